package io.fairgate.spring.fairshare;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.exchange.RequestTraces;

/** Has another one observe each event of the pools within the trace of its request, so that meters can name traces as examples. */
record TracedWatch(PermitPools.Watch watch, RequestTraces traces) implements PermitPools.Watch {

    @Override
    public PoolListener listenTo(String pool) {
        PoolListener listener = watch.listenTo(pool);
        return traces == RequestTraces.NONE ? listener : new Traced(listener, traces);
    }

    @Override
    public void reconfigured(String pool) {
        watch.reconfigured(pool);
    }

    @Override
    public void gone(String pool) {
        watch.gone(pool);
    }

    private record Traced(PoolListener listener, RequestTraces traces) implements PoolListener {

        @Override
        public void granted(PoolRequest request, long waitedNanos) {
            traces.within(request.context(), () -> listener.granted(request, waitedNanos));
        }

        @Override
        public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
            traces.within(request.context(), () -> listener.refused(request, reason, waitedNanos));
        }

        @Override
        public void abandoned(PoolRequest request, long waitedNanos) {
            traces.within(request.context(), () -> listener.abandoned(request, waitedNanos));
        }

        @Override
        public void lost(PoolRequest request, long waitedNanos) {
            traces.within(request.context(), () -> listener.lost(request, waitedNanos));
        }

        @Override
        public void released(PoolRequest request, long heldNanos) {
            traces.within(request.context(), () -> listener.released(request, heldNanos));
        }
    }
}
