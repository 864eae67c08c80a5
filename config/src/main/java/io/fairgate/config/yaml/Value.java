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
 * One value of the file, with what a mistake about it has to say.
 *
 * <p>Each method that returns a type notes a mistake and returns null when the value has another one.
 *
 * @param mark of its key, or of itself when it is an entry of a list
 * @param parent the list or mapping that it is in; null for the root
 * @param name its key or index there
 */
public record Value(Node node, Mark mark, @Nullable Value parent, String name, Mistakes mistakes) {

    /** Decimal only: YAML 1.1 reads {@code 010} as 8 and {@code 1:30} as 90, which nobody means. */
    public static final Pattern WHOLE = Pattern.compile("-?(0|[1-9][0-9]{0,17})");

    public static final Pattern DECIMAL = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]{1,3})?");

    private static final Set<Tag> PLAIN =
            Set.of(Tag.STR, Tag.INT, Tag.FLOAT, Tag.BOOL, Tag.TIMESTAMP, Tag.MERGE, Tag.NULL, Tag.MAP, Tag.SEQ);

    public static Value root(Node node, Mistakes mistakes) {
        return new Value(node, node.getStartMark(), null, "", mistakes);
    }

    /** What a key of this mapping says. */
    Value at(Node key, String name, Node value) {
        return new Value(value, key.getStartMark(), this, name, mistakes);
    }

    /** An entry of this list. */
    Value at(int index, Node value) {
        return new Value(value, value.getStartMark(), this, Integer.toString(index), mistakes);
    }

    /** The key as mistakes show it; seldom asked for, so it is put together only then. */
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

    /** Where it is, for the mistake of another value. */
    public String place() {
        return mistakes.place(mark, path());
    }

    /** The same with its key. */
    public String fullPlace() {
        return mistakes.areOfProperties() ? place() : "%s at %s".formatted(path(), place());
    }

    public void mistake(String found, String expected) {
        mistakes.add(mark, path(), found, expected);
    }

    /** Notes that the value is allowed and seldom meant, and what follows from it. */
    public void warn(String text) {
        mistakes.warn(mark, path(), text);
    }

    /** Notes that the value, as the file writes it, is not what was expected. */
    public void mistake(String expected) {
        mistake(shown(), expected);
    }

    /** A text. What YAML would take for a number or a truth is one as well: {@code no} may name a tenant. */
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

    /** The entries of a list; null, and a mistake, when it is none. */
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

    /** The entries of a mapping in the order of the file; null, and a mistake, when it is none. */
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

    /** The same, but null also for what the file puts in quotes. */
    @Nullable
    public String plainScalar() {
        return isQuoted() ? null : scalar();
    }

    /** Whether it is a mapping with keys that are not written here. */
    boolean isMerged() {
        return node instanceof MappingNode mapping && mapping.isMerged();
    }

    public boolean isMapping() {
        return node instanceof MappingNode || (node instanceof PropertyNodes.Text text && text.isBlank());
    }

    public boolean isList() {
        return node instanceof SequenceNode || node instanceof PropertyNodes.Text;
    }

    /** Whether the quotes say that it is a text. Around a placeholder they only keep YAML from reading its braces. */
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

    /** The value as the file writes it, or what kind of value it is. */
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
