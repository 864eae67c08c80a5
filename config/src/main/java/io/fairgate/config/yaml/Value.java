package io.fairgate.config.yaml;

import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
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
 * <p>Each method that returns a type notes a mistake and returns null when the value has another type.
 *
 * @param mark the position of its key, or of the value itself in a list
 * @param parent the list or mapping that it is in; null for the root
 * @param name its key or index there
 */
public record Value(Node node, Mark mark, @Nullable Value parent, String name, Mistakes mistakes) {

    /**
     * Plain decimal digits only: YAML 1.1 reads {@code 010} as 8 and {@code 1:30} as 90, which is never intended here.
     */
    public static final Pattern WHOLE = Pattern.compile("-?(0|[1-9][0-9]{0,17})");

    public static final Pattern DECIMAL = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]{1,3})?");

    private static final Set<Tag> PLAIN =
            Set.of(Tag.STR, Tag.INT, Tag.FLOAT, Tag.BOOL, Tag.TIMESTAMP, Tag.MERGE, Tag.NULL, Tag.MAP, Tag.SEQ);

    public static Value root(Node node, Mistakes mistakes) {
        return new Value(node, node.getStartMark(), null, "", mistakes);
    }

    /** The value of a key of this mapping. */
    Value at(Node key, String name, Node value) {
        return new Value(value, key.getStartMark(), this, name, mistakes);
    }

    /** An entry of this list. */
    Value at(int index, Node value) {
        return new Value(value, value.getStartMark(), this, Integer.toString(index), mistakes);
    }

    /** The dotted path of the value, as mistakes show it. Computed on demand, because it is rarely needed. */
    String path() {
        if (parent == null) {
            return "";
        }
        return parent.isList() ? parent.path() + "[" + name + "]" : parent.pathTo(name);
    }

    /** The path of a key of this mapping. */
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

    /** The place with the path of the value. */
    public String fullPlace() {
        return mistakes.areOfProperties() ? place() : "%s at %s".formatted(path(), place());
    }

    public void mistake(String found, String expected) {
        mistakes.add(mark, path(), found, expected);
    }

    /** Notes a warning about a value that is allowed but rarely intended. */
    public void warn(String text) {
        mistakes.warn(mark, path(), text);
    }

    /** Notes that the value, as the file writes it, is not what was expected. */
    public void mistake(String expected) {
        mistake(shown(), expected);
    }

    /** A text. A value that YAML reads as a number or a boolean is a text as well: {@code no} may name a tenant. */
    @Nullable
    public String text(String expected) {
        String scalar = scalar();
        if (scalar == null || scalar.isBlank()) {
            mistake(expected);
            return null;
        }
        return scalar;
    }

    @Nullable
    public Long whole() {
        String scalar = plainScalar();
        if (scalar == null || !WHOLE.matcher(scalar).matches()) {
            boolean tooLong = scalar != null && scalar.matches("-?[1-9][0-9]*");
            mistake(tooLong ? "a whole number of at most 18 digits" : "a whole number in plain decimal digits");
            return null;
        }
        return Long.valueOf(scalar);
    }

    @Nullable
    public Integer integer() {
        Long whole = whole();
        if (whole == null) {
            return null;
        }
        if (whole != whole.intValue()) {
            mistake("a whole number of at most %d".formatted(Integer.MAX_VALUE));
            return null;
        }
        return whole.intValue();
    }

    @Nullable
    public Double decimal() {
        String scalar = plainScalar();
        if (scalar == null || !DECIMAL.matcher(scalar).matches()) {
            mistake("a number such as 4 or 0.5");
            return null;
        }
        return Double.valueOf(scalar);
    }

    @Nullable
    public Duration duration() {
        String scalar = scalar();
        Duration duration = scalar == null ? null : DurationText.parse(scalar);
        if (duration == null) {
            mistake(DurationText.EXPECTED);
        }
        return duration;
    }

    @Nullable
    public Boolean truth() {
        String scalar = plainScalar();
        if (scalar == null || !Set.of("true", "false").contains(scalar)) {
            mistake("true or false");
            return null;
        }
        return Boolean.valueOf(scalar);
    }

    /** The entries of a list. Notes a mistake and returns null when the value is not a list. */
    @Nullable
    public List<Value> items(String expected) {
        if (node instanceof PropertyNodes.Text text) {
            List<Value> items = new ArrayList<>();
            text.items().forEach(item -> items.add(at(items.size(), item)));
            return items;
        }
        if (!(node instanceof SequenceNode sequence) || !isPlain()) {
            mistake(expected);
            return null;
        }
        List<Value> items = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            items.add(at(items.size(), item));
        }
        return items;
    }

    /**
     * The entries of a mapping in the order of the file. Notes a mistake and returns null when the value is not a
     * mapping.
     */
    @Nullable
    public Map<String, Value> entries(String expected) {
        if (node instanceof PropertyNodes.Text text && text.isBlank()) {
            return Map.of();
        }
        if (node instanceof PropertyNodes.Items items) {
            return new Value(items.mapping(), mark, parent, name, mistakes).entries(expected);
        }
        if (!(node instanceof MappingNode mapping) || !isPlain()) {
            mistake(expected);
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
                value.mistake("a merge key", "keys written out; what tenants share belongs in a plan");
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
        return isQuoted() ? null : scalar();
    }

    /** Whether it is a mapping with merged keys. */
    boolean isMerged() {
        return node instanceof MappingNode mapping && mapping.isMerged();
    }

    public boolean isMapping() {
        return node instanceof MappingNode || (node instanceof PropertyNodes.Text text && text.isBlank());
    }

    public boolean isList() {
        return node instanceof SequenceNode || node instanceof PropertyNodes.Text;
    }

    /**
     * Whether quotes make the value a text. Quotes around a placeholder do not: they only keep YAML from reading its
     * braces.
     */
    private boolean isQuoted() {
        return node instanceof ScalarNode scalar
                && scalar.getScalarStyle() != ScalarStyle.PLAIN
                && !(node instanceof FilledScalar);
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
            String written = scalar instanceof FilledScalar filled ? filled.written() : scalar.getValue();
            String text = scalar.getScalarStyle() != ScalarStyle.PLAIN ? '"' + written + '"' : written;
            return isNull() ? "nothing" : text;
        }
        boolean isEmpty = (node instanceof SequenceNode list && list.getValue().isEmpty())
                || (node instanceof MappingNode mapping && mapping.getValue().isEmpty());
        return (isEmpty ? "an empty " : "a ") + (isList() ? "list" : "mapping");
    }
}
