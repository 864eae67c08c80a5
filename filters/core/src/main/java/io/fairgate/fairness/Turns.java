package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Takes turns between a large claim that permits collect for and everybody else, so that a claim whose permits do not come
 * back, because somebody holds them for long, does not keep idle what others want.
 *
 * <p>Permits collect for a claim until others have waited for that for a turn, which is as long as the largest lag takes to
 * be caught up with: theta horizons, some six holds. Then they are for the others, for as long. Meanwhile nothing collects
 * among these siblings, and who wants more than is free steps aside, unless nobody else wants it. At the end of it the one
 * that has had its turn counts as holding a permit more for a moment, so that another comes first that is even with it. A
 * claim that is cancelled while permits collect for it has had its turn as well; one that is granted has not.
 *
 * <p>For what is guaranteed to a tenant permits collect without an end. Who does not fit beside what its own tenant holds
 * stays aside until that gives something back: it waits for its tenant rather than for the pool.
 */
final class Turns {

    /** A time that does not come. */
    static final long NEVER = Long.MAX_VALUE;

    private final SharePath path;
    /** Where there is a pin, or somebody is aside. */
    private final Set<Siblings> watched = new LinkedHashSet<>();

    Turns(SharePath path) {
        this.path = path;
    }

    /** Whether permits may collect among the siblings for this claim of one of them, or of one below them. */
    static boolean mayCollect(Siblings siblings, Claim claim) {
        return !siblings.pin.isOthersTurn || turn(siblings, claim) == NEVER;
    }

    /** Has permits collect for the claim, if some are free and none collect for another. */
    void pin(Siblings siblings, Claim claim, long room) {
        if (siblings.pin.claim == null && room > 0) {
            siblings.pin.set(claim);
            watched.add(siblings);
        }
    }

    /** Who comes first and lacks permits lets others go first. */
    void stepAside(Siblings siblings, Share leaf) {
        leaf.isAside = true;
        siblings.pin.aside.add(leaf);
        watched.add(siblings);
        path.tickUpFrom(leaf);
        path.settle(leaf);
    }

    /** Something has happened to the leaf's own claims: it competes again, once its nodes are settled. */
    void comeBack(Share leaf) {
        if (leaf.isAside) {
            leaf.isAside = false;
            watched.forEach(siblings -> siblings.pin.aside.remove(leaf));
        }
    }

    private void comeBackNow(Share leaf) {
        comeBack(leaf);
        path.tickUpFrom(leaf);
        path.settle(leaf);
    }

    /**
     * A leaf has given permits back: who is aside and waited for these competes again. Those are other classes of the same
     * tenant, and whoever shares a reservation with it.
     */
    void comeBackBeside(Share leaf) {
        Share widest = leaf;
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            widest = node.tenant != null || node.keeps() > 0 ? node : widest;
        }
        Share within = widest;
        watched.stream()
                .flatMap(siblings -> siblings.pin.aside.stream())
                .filter(other -> SharePath.isBelow(other, within))
                .toList()
                .forEach(this::comeBackNow);
    }

    /** Whether there is nobody to take turns, as nearly always: then all of the following do nothing. */
    boolean isIdle() {
        return watched.isEmpty();
    }

    /** Ends the turns that are over. */
    void change() {
        List.copyOf(watched).forEach(this::changeAt);
    }

    private void changeAt(Siblings siblings) {
        path.tick(siblings);
        Pin pin = siblings.pin;
        Claim claim = pin.claim;
        if (claim != null && pin.othersWaited() >= turn(siblings, claim)) {
            giveUp(siblings);
            stepAside(siblings, SharePath.leafOf(claim));
        } else if (pin.isOthersTurn && path.now() - pin.othersTurnEnds >= 0) {
            pin.isOthersTurn = false;
            pin.aside.stream().filter(this::fitsBesideItsOwn).toList().forEach(this::comeBackNow);
            letOthersPrecede(siblings);
        }
        if (pin.claim == null && !pin.isOthersTurn && pin.aside.isEmpty()) {
            watched.remove(siblings);
        }
    }

    private boolean fitsBesideItsOwn(Share leaf) {
        Claim head = leaf.queue.head();
        Share tenant = leaf.tenant == null ? leaf.parent() : leaf;
        return head == null || path.fitsWhenAllElseIsFree(leaf, head.permits() + tenant.inFlight);
    }

    /** Permits collect no more for a claim that is not granted. */
    void giveUp(Siblings siblings) {
        Pin pin = siblings.pin;
        Claim claim = pin.claim;
        if (claim == null) {
            return;
        }
        pin.claim = null;
        long turn = turn(siblings, claim);
        long waited = Math.min(pin.othersWaited(), turn);
        if (waited > 0 && turn != NEVER) {
            pin.isOthersTurn = true;
            pin.othersTurnEnds = path.now() + waited;
            pin.hadItsTurn = SharePath.leafOf(claim);
        }
    }

    /** The same, at every node above a claim that leaves its queue. */
    void giveUpAll(Claim claim, Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            if (node.siblings().pin.claim == claim) {
                giveUp(node.siblings());
            }
        }
    }

    /** Also where another leaf waits now, of the same tenant or group. */
    private void letOthersPrecede(Siblings upTo) {
        Share node = upTo.pin.hadItsTurn;
        upTo.pin.hadItsTurn = null;
        while (node != null && node.siblings != null) {
            Siblings siblings = node.siblings();
            path.tick(siblings);
            if (node.backlogged) {
                siblings.chargeOneHorizon(node, path.permitsOf(node.parent()));
            }
            node = siblings == upTo ? null : node.parent();
        }
    }

    /** For how long others wait at most while permits collect for the claim. */
    private static long turn(Siblings siblings, Claim claim) {
        Share node = SharePath.leafOf(claim);
        while (node.siblings() != siblings) {
            node = node.parent();
        }
        boolean isGuaranteed = node.inFlight + claim.permits() <= node.settings.guaranteed();
        return isGuaranteed ? NEVER : siblings.turn();
    }

    /** The first to step aside of those who fit, and whom nobody else waits beside, competes again; whether there is one. */
    boolean bringBackWhoFits() {
        for (Siblings siblings : watched) {
            if (siblings.backlog.isEmpty()) {
                for (Share leaf : siblings.pin.aside) {
                    Claim head = leaf.queue.head();
                    if (head != null && path.lacking(head, leaf) == null) {
                        comeBackNow(leaf);
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** After permits were handed out: whether others wait now while permits collect. */
    void noteWhoWaits() {
        for (Siblings siblings : watched) {
            path.tick(siblings);
            Claim claim = siblings.pin.claim;
            siblings.pin.noteOthers(claim != null && othersCompete(claim, siblings));
        }
    }

    private static boolean othersCompete(Claim claim, Siblings upTo) {
        for (Share node = SharePath.leafOf(claim); ; node = node.parent()) {
            if (node.siblings().backlog.size() > 1) {
                return true;
            }
            if (node.siblings() == upTo) {
                return false;
            }
        }
    }

    /** When a turn ends though nothing else happens. */
    long nextEnd() {
        long next = NEVER;
        for (Siblings siblings : watched) {
            Pin pin = siblings.pin;
            Claim claim = pin.claim;
            long turn = claim != null && pin.othersWait() ? turn(siblings, claim) : NEVER;
            if (turn != NEVER) {
                next = Math.min(next, path.now() + Math.max(0, turn - pin.othersWaited()));
            }
            if (pin.isOthersTurn && !pin.aside.isEmpty()) {
                next = Math.min(next, pin.othersTurnEnds);
            }
        }
        return next;
    }

    /** What every tenant may claim is changing: whoever is aside competes again, and nothing collects. */
    void forget() {
        for (Siblings siblings : watched) {
            siblings.pin.claim = null;
            siblings.pin.aside.forEach(leaf -> leaf.isAside = false);
            siblings.pin.aside.clear();
            siblings.pin.isOthersTurn = false;
            siblings.pin.hadItsTurn = null;
        }
        watched.clear();
    }
}
