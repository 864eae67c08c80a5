package io.fairgate.config.yaml;

import io.fairgate.config.model.InvalidPolicyException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.Stream;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Limits what the aliases of a document expand to. Ten lines of aliases to lists of aliases can stand for billions of
 * values, and an alias within its own anchor expands without end.
 */
final class Expansion {

    /** The number of values that all aliases together may repeat. */
    static final long MAX_REPEATED = 100_000;

    private final Mistakes mistakes;
    private final IdentityHashMap<Node, Extent> known = new IdentityHashMap<>();
    private long repeated;

    private Expansion(Mistakes mistakes) {
        this.mistakes = mistakes;
    }

    /** @throws InvalidPolicyException when the document expands to too much */
    static void check(Node root, Mistakes mistakes) {
        var unused = new Expansion(mistakes).extent(root);
    }

    private Extent extent(Node node) {
        Extent before = known.putIfAbsent(node, Extent.OPEN);
        if (Extent.OPEN.equals(before)) {
            throw refused(node, "an alias that contains itself", "no alias within its own anchor");
        } else if (before != null) {
            repeated += before.values;
            if (repeated > MAX_REPEATED) {
                throw refused(node, "too many aliases", "at most %d values repeated".formatted(MAX_REPEATED));
            }
            return before;
        }
        long values = 1;
        int levels = 1;
        for (Node child : children(node)) {
            Extent below = extent(child);
            values += below.values;
            levels = Math.max(levels, below.levels + 1);
        }
        if (levels > YamlDocument.MAX_NESTING + 1) {
            throw refused(node, "aliases nested too deep", "at most %d levels".formatted(YamlDocument.MAX_NESTING));
        }
        Extent extent = new Extent(values, levels);
        known.put(node, extent);
        return extent;
    }

    private InvalidPolicyException refused(Node node, String found, String expected) {
        return mistakes.unreadable(node.getStartMark().getLine() + 1, found, expected);
    }

    private static List<Node> children(Node node) {
        if (node instanceof SequenceNode sequence) {
            return sequence.getValue();
        }
        return node instanceof MappingNode mapping
                ? mapping.getValue().stream()
                        .flatMap(entry -> Stream.of(entry.getKeyNode(), entry.getValueNode()))
                        .toList()
                : List.of();
    }

    /** How many values a node stands for, itself included, and on how many levels. */
    private record Extent(long values, int levels) {
        /** Marks a node whose children are being visited. */
        static final Extent OPEN = new Extent(-1, -1);
    }
}
