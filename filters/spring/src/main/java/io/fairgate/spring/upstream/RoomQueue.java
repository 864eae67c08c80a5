package io.fairgate.spring.upstream;

import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Requests that have a permit and wait for room at an instance of their upstream. There are such requests only for a moment: when an
 * instance has just been put aside, and its requests are sent to the others. So all of them look for room at each change, and those that
 * find none wait again.
 */
final class RoomQueue {

    /** Guarded by this. */
    private List<Place> places = new ArrayList<>(0);

    /** The place of one request. */
    final class Place {

        private final Sinks.Empty<Void> change = Sinks.empty();

        /** Completes at the next change. */
        Mono<Void> left() {
            return change.asMono().doOnCancel(this::leave);
        }

        void leave() {
            synchronized (RoomQueue.this) {
                places.remove(this);
            }
        }
    }

    /** Takes a place, which sees each change from now on. */
    synchronized Place enter() {
        Place place = new Place();
        places.add(place);
        return place;
    }

    /** An instance may have room now. */
    void changed() {
        List<Place> all;
        synchronized (this) {
            if (places.isEmpty()) {
                return;
            }
            all = places;
            places = new ArrayList<>(0);
        }
        all.forEach(place -> place.change.tryEmitEmpty());
    }
}
