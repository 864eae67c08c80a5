package io.fairgate.spring.fairshare;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.replay.Recording;

/** Has another one observe the pools, and records their requests. */
record RecordedWatch(PermitPools.Watch watch, Recordings recordings) implements PermitPools.Watch {

    @Override
    public PoolListener listenTo(String pool) {
        PoolListener listener = watch.listenTo(pool);
        Recording recording = recordings.begin(pool);
        return recording == null ? listener : new Both(listener, recording);
    }

    @Override
    public void reconfigured(String pool) {
        recordings.beginAnew(pool);
        watch.reconfigured(pool);
    }

    @Override
    public void gone(String pool) {
        recordings.forget(pool);
        watch.gone(pool);
    }

    /** The listener attaches nothing to requests, because the recording does. */
    private record Both(PoolListener listener, Recording recording) implements PoolListener {

        @Override
        public void granted(PoolRequest request, long waitedNanos) {
            listener.granted(request, waitedNanos);
            recording.granted(request, waitedNanos);
        }

        @Override
        public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
            listener.refused(request, reason, waitedNanos);
            recording.refused(request, reason, waitedNanos);
        }

        @Override
        public void abandoned(PoolRequest request, long waitedNanos) {
            listener.abandoned(request, waitedNanos);
            recording.abandoned(request, waitedNanos);
        }

        @Override
        public void lost(PoolRequest request, long waitedNanos) {
            listener.lost(request, waitedNanos);
            recording.lost(request, waitedNanos);
        }

        @Override
        public void released(PoolRequest request, long heldNanos) {
            listener.released(request, heldNanos);
            recording.released(request, heldNanos);
        }
    }
}
