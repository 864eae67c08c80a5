package io.fairgate.config.yaml;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.yaml.snakeyaml.DumperOptions.FlowStyle;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Turns properties into the nodes that a file with the same policy would have.
 *
 * <p>Properties are less strict than YAML, as Spring's are: a list may be one text with commas in between, an empty
 * text stands for an empty list or mapping, and keys may be written in camel case.
 */
public final class PropertyNodes {

    private int nodes;

    private PropertyNodes() {}

    /**
     * The nodes of a tree of plain values.
     *
     * @param tree maps of maps, with texts as leaves; a map whose keys are {@link Integer}s is a list
     */
    public static Node of(Map<?, ?> tree) {
        return new PropertyNodes().node(tree);
    }

    /** A unique position for each node, because properties have no lines. */
    private Mark mark() {
        return new Mark("", nodes++, 0, 0, new int[0], 0);
    }

    private Node node(Object value) {
        Mark mark = mark();
        if (!(value instanceof Map<?, ?> map)) {
            return new Text(value.toString(), mark);
        }
        if (!map.isEmpty() && map.keySet().stream().allMatch(Integer.class::isInstance)) {
            List<Node> items = map.values().stream().map(this::node).toList();
            return new SequenceNode(Tag.SEQ, true, items, mark, mark, FlowStyle.BLOCK);
        }
        return mapping(map, mark);
    }

    private MappingNode mapping(Map<?, ?> map, Mark mark) {
        List<NodeTuple> entries = new ArrayList<>();
        map.forEach((key, entry) -> entries.add(new NodeTuple(new Text(key.toString(), mark()), node(entry))));
        return new MappingNode(Tag.MAP, true, entries, mark, mark, FlowStyle.BLOCK);
    }

    /** The entries, with the known spelling of each known key. */
    static Map<String, Value> byKnownName(Map<String, Value> given, List<String> known) {
        Map<String, Value> entries = new LinkedHashMap<>();
        given.forEach((key, value) -> entries.putIfAbsent(
                known.stream()
                        .filter(each -> uniform(each).equals(uniform(key)))
                        .findFirst()
                        .orElse(key),
                value));
        return entries;
    }

    /** The form in which Spring compares names of properties. */
    public static String uniform(String key) {
        return key.replaceAll("[-_]", "").toLowerCase(Locale.ROOT);
    }

    static final class Text extends ScalarNode {

        private Text(String text, Mark mark) {
            super(text.isBlank() ? Tag.NULL : Tag.STR, text, mark, mark, ScalarStyle.PLAIN);
        }

        boolean isBlank() {
            return getValue().isBlank();
        }

        /** The texts between its commas. */
        List<Node> items() {
            return isBlank()
                    ? List.of()
                    : Arrays.stream(getValue().split(",", -1))
                            .<Node>map(item -> new Text(item.strip(), getStartMark()))
                            .toList();
        }
    }
}
