package io.fairgate.config.yaml;

import io.fairgate.config.model.InvalidPolicyException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
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

    private final Value root;
    private final IdentityHashMap<Node, Extent> known = new IdentityHashMap<>();
    private long repeated;

    private Expansion(Value root) {
        this.root = root;
    }

    /** @throws InvalidPolicyException when the document expands to too much */
    static void check(Value root) {
        new Expansion(root).extent(root.node());
    }

    private Extent extent(Node node) {
        Extent before = known.get(node);
        if (Extent.OPEN.equals(before)) {
            throw refused(node, "an alias of what it is in", "no alias within its own anchor");
        }
        if (before != null) {
            repeated += before.values;
            if (repeated > MAX_REPEATED) {
                throw refused(node, "aliases of too much", "at most %d values repeated".formatted(MAX_REPEATED));
            }
            return before;
        }
        known.put(node, Extent.OPEN);
        Extent extent = Extent.NONE;
        for (Node child : children(node)) {
            extent = extent.and(extent(child));
        }
        extent = new Extent(extent.values + 1, extent.levels + 1);
        if (extent.levels > YamlDocument.MAX_NESTING + 1) {
            throw refused(node, "aliases that nest too deep", "at most %d levels".formatted(YamlDocument.MAX_NESTING));
        }
        known.put(node, extent);
        return extent;
    }

    private InvalidPolicyException refused(Node node, String found, String expected) {
        return root.mistakes().unreadable(node.getStartMark().getLine() + 1, found, expected);
    }

    private static List<Node> children(Node node) {
        if (node instanceof SequenceNode sequence) {
            return sequence.getValue();
        }
        List<Node> children = new ArrayList<>();
        if (node instanceof MappingNode mapping) {
            mapping.getValue().forEach(entry -> {
                children.add(entry.getKeyNode());
                children.add(entry.getValueNode());
            });
        }
        return children;
    }

    /** How many values a node stands for, itself included, and on how many levels. */
    private record Extent(long values, int levels) {
        static final Extent NONE = new Extent(0, 0);

        /** Marks a node whose children are being visited. */
        static final Extent OPEN = new Extent(-1, -1);

        Extent and(Extent other) {
            return new Extent(values + other.values, Math.max(levels, other.levels));
        }
    }
}
