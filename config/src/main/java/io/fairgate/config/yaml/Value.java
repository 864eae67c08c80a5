package io.fairgate.config.yaml;

import io.fairgate.config.model.Warning;
import io.fairgate.policy.IdentitySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * One value of the file, with its place for mistakes.
 *
 * @param mark the position of its key, or of the value itself in a list
 * @param parent the list or mapping that it is in; null for the root
 * @param name its key or index there
 */
public record Value(Node node, Mark mark, @Nullable Value parent, String name, Mistakes mistakes) {

    private static final Set<Tag> PLAIN =
            Set.of(Tag.STR, Tag.INT, Tag.FLOAT, Tag.BOOL, Tag.TIMESTAMP, Tag.MERGE, Tag.NULL, Tag.MAP, Tag.SEQ);

    public static Value root(Node node, Mistakes mistakes) {
        return new Value(node, node.getStartMark(), null, "", mistakes);
    }

    Value at(Node key, String name, Node value) {
        return new Value(value, key.getStartMark(), this, name, mistakes);
    }

    Value at(int index, Node value) {
        return new Value(value, value.getStartMark(), this, Integer.toString(index), mistakes);
    }

    Value with(Node other) {
        return new Value(other, mark, parent, name, mistakes);
    }

    /** A part of this text, under a name of its own. */
    public Value part(String name, String text) {
        return new Value(UnquotedScalar.part((ScalarNode) node, text), mark, this, name, mistakes);
    }

    /** The parts of a text between its commas, at the place of the whole; none when it is not a scalar. */
    public List<Value> split() {
        return node instanceof ScalarNode whole
                ? Arrays.stream(whole.getValue().split(",", -1))
                        .map(part -> with(UnquotedScalar.part(whole, part.strip())))
                        .toList()
                : List.of();
    }

    /** The dotted path of the value, as mistakes show it. Computed on demand, because it is rarely needed. */
    String path() {
        if (parent == null) {
            return "";
        }
        return parent.isList() ? parent.path() + "[" + name + "]" : parent.pathTo(name);
    }

    String pathTo(String key) {
        String path = path();
        return path.isEmpty() ? key : path + "." + key;
    }

    public int line() {
        return mark.getLine() + 1;
    }

    /** The place of the value, for a mistake about another one. */
    public String place() {
        return mistakes.place(mark, path());
    }

    /** The place of the value, for a mistake that is found when the policy is put in force. */
    public IdentitySource.Place placeInPolicy() {
        return mistakes.placeInPolicy(mark, path());
    }

    /** The place with the path of the value. */
    public String fullPlace() {
        return mistakes.areOfProperties() ? place() : "%s at %s".formatted(path(), place());
    }

    public void mistake(String found, String expected) {
        mistakes.add(mark, path(), found, expected);
    }

    /** Notes that the value, as the file writes it, is not what was expected. */
    public void mistake(String expected) {
        mistake(shown(), expected);
    }

    /** Notes a warning about a value that is allowed but rarely intended. */
    public void warn(String text) {
        mistakes.warn(mark, path(), text);
    }

    /** The same, without noting it. */
    public Warning warning(String text) {
        return mistakes.warning(mark, path(), text);
    }

    /** The text of a scalar. Notes a mistake and returns null when the value is not a scalar, or blank. */
    @Nullable
    public String text(String expected) {
        String scalar = scalar();
        if (scalar == null || scalar.isBlank()) {
            mistake(expected);
            return null;
        }
        return scalar;
    }

    /** The items of a list; null when the value is not a list. */
    @Nullable
    public List<Value> itemsOrNull() {
        List<Node> nodes = null;
        if (node instanceof PropertyNodes.Text text) {
            nodes = text.items();
        } else if (node instanceof SequenceNode sequence && isPlain()) {
            nodes = sequence.getValue();
        }
        if (nodes == null) {
            return null;
        }
        List<Value> items = new ArrayList<>();
        nodes.forEach(item -> items.add(at(items.size(), item)));
        return items;
    }

    /** The entries of a mapping in the order of the file; null when the value is not a mapping. */
    @Nullable
    public Map<String, Value> entriesOrNull() {
        if (node instanceof PropertyNodes.Text text && text.isBlank()) {
            return Map.of();
        }
        if (!(node instanceof MappingNode mapping) || !isPlain()) {
            return null;
        }
        Map<String, Value> entries = new LinkedHashMap<>();
        for (NodeTuple tuple : mapping.getValue()) {
            Value key = new Value(tuple.getKeyNode(), tuple.getKeyNode().getStartMark(), parent, name, mistakes);
            String text = key.scalar();
            if (text == null) {
                key.mistake("%s as a key".formatted(key.shown()), "a text as the key");
                continue;
            }
            Value value = at(key.node, text, tuple.getValueNode());
            if (key.node.getTag().equals(Tag.MERGE)) {
                value.mistake("a merge key", "keys without <<; use a plan for settings that tenants share");
                continue;
            }
            Value first = entries.putIfAbsent(text, value);
            if (first != null) {
                value.mistake("a second time", "once; %s has it already".formatted(first.place()));
            }
        }
        return Collections.unmodifiableMap(entries);
    }

    /** The text of a scalar that is neither null nor tagged; null for everything else, without a mistake. */
    @Nullable
    public String scalar() {
        return node instanceof ScalarNode scalar && isPlain() && !isNull() ? scalar.getValue() : null;
    }

    /** The same, but null for a quoted scalar as well. */
    @Nullable
    public String plainScalar() {
        boolean isQuoted = node instanceof ScalarNode scalar
                && scalar.getScalarStyle() != ScalarStyle.PLAIN
                && !(node instanceof UnquotedScalar);
        return isQuoted ? null : scalar();
    }

    boolean isMerged() {
        return node instanceof MappingNode mapping && mapping.isMerged();
    }

    public boolean isMapping() {
        return node instanceof MappingNode || (node instanceof PropertyNodes.Text text && text.isBlank());
    }

    public boolean isList() {
        return node instanceof SequenceNode || node instanceof PropertyNodes.Text;
    }

    private boolean isNull() {
        return node.getTag().equals(Tag.NULL);
    }

    private boolean isPlain() {
        return PLAIN.contains(node.getTag());
    }

    /** The value as the file writes it, or the kind of a value that is not a scalar. */
    public String shown() {
        if (!isPlain()) {
            return "the tag " + node.getTag().getValue();
        }
        if (node instanceof ScalarNode scalar) {
            String written = scalar instanceof UnquotedScalar unquoted ? unquoted.written() : scalar.getValue();
            String text = scalar.getScalarStyle() != ScalarStyle.PLAIN ? '"' + written + '"' : written;
            return isNull() ? "nothing" : text;
        }
        boolean isEmpty = (node instanceof SequenceNode list && list.getValue().isEmpty())
                || (node instanceof MappingNode mapping && mapping.getValue().isEmpty());
        return (isEmpty ? "an empty " : "a ") + (isList() ? "list" : "mapping");
    }
}
