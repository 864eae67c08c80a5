package io.fairgate.redis.slice;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Two nodes and a ledger of two permits, without time. A step is a word, so that a path can be read and taken again. */
final class SmallCluster {

    static final int PERMITS = 2;
    private static final SliceTerm TERM = SliceTerm.USUAL;

    private record Message(int node, Heartbeat beat) {}

    private record Answered(int node, String name, SliceAnswer answer) {}

    private final Set<Guard> without;
    private final SliceKernel kernel;
    private LedgerState ledger = new LedgerState();
    private String server = "s0";
    private boolean hasFailedOver;
    /** What the replica has, if it has anything. */
    private @Nullable LedgerState replica;

    private final SliceAgent[] nodes = new SliceAgent[2];
    private final int[] sent = new int[2];
    private final long[] latest = new long[2];
    private final int[] names = new int[2];
    /** All that were ever sent: any of them can arrive, again and in any order. */
    private final Set<Message> beats = new LinkedHashSet<>();

    private final Set<Answered> answers = new LinkedHashSet<>();

    SmallCluster(Set<Guard> without) {
        this.without = without;
        this.kernel = new SliceKernel(TERM, 0, without);
        for (int i = 0; i < 2; i++) {
            int node = i;
            nodes[i] = new SliceAgent(TERM, () -> "n" + node + "-" + names[node]++);
        }
        // The recovery of the first start is over.
        kernel.heartbeat(
                ledger, new Heartbeat("first", 1, LedgerVersion.NONE, 0, 0, PERMITS, List.of(), "", true), 0, server);
        ledger.nodes.clear();
        ledger.recoveringUntil = 0;
    }

    int usable() {
        return usable(nodes[0]) + usable(nodes[1]);
    }

    private static int usable(SliceAgent node) {
        return Math.max(0, node.slice(0) - node.moving());
    }

    /** The steps that are possible now. */
    List<String> steps(int mostBeats) {
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            if (sent[i] < mostBeats) {
                steps.add("beat " + i + " 0");
                steps.add("beat " + i + " 2");
            }
            if (nodes[i].slice(0) > 0) {
                steps.add("termEnds " + i);
            }
        }
        for (int i = 0; i < beats.size(); i++) {
            steps.add("deliver " + i);
        }
        for (int i = 0; i < answers.size(); i++) {
            steps.add("answer " + i);
        }
        ledger.nodes.forEach((name, node) -> {
            if (!node.hasEnded() && termIsOver(name)) {
                steps.add("expire " + name);
            }
        });
        if (replica != null) {
            steps.add("failOver");
        } else if (!hasFailedOver) {
            steps.add("replicate");
        }
        if (ledger.isRecovering() && allAsserted()) {
            steps.add("recovered");
        }
        return steps;
    }

    /** The ledger waits for at least as long as a node uses what it was given. */
    private boolean termIsOver(String name) {
        for (SliceAgent node : nodes) {
            if (node.node().equals(name) && node.slice(0) > 0) {
                return false;
            }
        }
        return true;
    }

    /** A recovery takes as long as the terms of all slices that the lost ledger has given. */
    private boolean allAsserted() {
        for (SliceAgent node : nodes) {
            LedgerState.Node recorded = ledger.nodes.get(node.node());
            int slice = recorded == null ? 0 : recorded.slice();
            if (node.slice(0) > slice) {
                return false;
            }
        }
        return true;
    }

    void take(String step) {
        String[] words = step.split(" ", -1);
        switch (words[0]) {
            case "beat" -> beat(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "termEnds" -> endTerm(nodes[Integer.parseInt(words[1])]);
            case "deliver" -> deliver(List.copyOf(beats).get(Integer.parseInt(words[1])));
            case "answer" -> answer(List.copyOf(answers).get(Integer.parseInt(words[1])));
            case "expire" -> expire(words[1]);
            case "replicate" -> replica = ledger.copy();
            case "failOver" -> failOver();
            case "recovered" -> recover();
            default -> throw new IllegalArgumentException(step);
        }
    }

    private void beat(int i, int target) {
        nodes[i].aimAt(target);
        Heartbeat beat = nodes[i].beat(0, PERMITS, 0, "");
        latest[i] = beat.sequence();
        beats.add(new Message(i, beat));
        sent[i]++;
    }

    /** At the end of a term the node takes no notice of an answer. */
    private static void endTerm(SliceAgent node) {
        node.answered(
                new SliceAnswer(SliceAnswer.Outcome.STALE, -1, LedgerVersion.NONE, 0, false, false, Map.of(), Map.of()),
                TERM.nanos());
    }

    private void deliver(Message message) {
        SliceAnswer answer = kernel.heartbeat(ledger, message.beat(), 0, server);
        answers.add(new Answered(message.node(), message.beat().node(), answer));
    }

    private void answer(Answered answered) {
        SliceAgent node = nodes[answered.node()];
        boolean isOfThisTerm = node.node().equals(answered.name());
        boolean isTakenForLatest = isOfThisTerm && without.contains(Guard.LATEST_ANSWER);
        SliceAnswer answer = answered.answer();
        node.answered(isTakenForLatest ? withSequence(answer, latest[answered.node()]) : answer, 0);
    }

    /** An answer as if it were one to another heartbeat. */
    static SliceAnswer withSequence(SliceAnswer answer, long sequence) {
        return new SliceAnswer(
                answer.outcome(),
                sequence,
                answer.now(),
                answer.slice(),
                answer.isRecovering(),
                answer.hasRoom(),
                answer.tokens(),
                answer.demands());
    }

    /** What a node was answered before comes too late to give it a term. */
    private void expire(String name) {
        ledger.nodes.computeIfPresent(name, (any, node) -> node.ended(Long.MAX_VALUE));
        answers.removeIf(answered -> answered.name().equals(name));
        if (without.contains(Guard.ENDED_NODES)) {
            ledger.nodes.remove(name);
        }
    }

    /** What the lost ledger answered comes too late to give a term. */
    private void recover() {
        ledger.recoveringUntil = 0;
        answers.removeIf(answered -> answered.answer().now().epoch() < ledger.epoch);
    }

    private void failOver() {
        ledger = Objects.requireNonNull(replica);
        replica = null;
        hasFailedOver = true;
        server = "s1";
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(state(ledger)).append(server).append(replica == null ? "" : state(replica));
        for (SliceAgent node : nodes) {
            text.append('|').append(node);
        }
        beats.stream().map(Message::toString).sorted().forEach(text::append);
        answers.stream().map(Answered::toString).sorted().forEach(text::append);
        return text.toString();
    }

    private static String state(LedgerState state) {
        return state.epoch + "." + state.version + (state.isRecovering() ? "r" : "") + state.nodes;
    }
}
