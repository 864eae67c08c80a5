package io.fairgate.config.yaml;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Fills in values from elsewhere: <code>${NAME}</code> is the environment variable of that name,
 * <code>${NAME:otherwise}</code> is {@code otherwise} when the variable is not set, and <code>${file:PATH}</code> is
 * the content of the file without its last line break; a relative path begins at the folder of the policy file.
 * <code>$\{</code> is <code>${</code> itself.
 *
 * <p>A filled-in value may be a secret, so messages show the placeholder instead.
 */
public final class Placeholders {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\$(\\\\?)\\{([^{}]*)(}?)");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final String FILE = "file:";
    private static final String LITERAL = "; write $\\{ for a literal ${";

    /** Enough for any token, password or certificate. */
    private static final int MAX_BYTES = 64 * 1024;

    private final Map<String, String> environment;
    private final @Nullable Path folder;
    private final Map<String, String> used = new LinkedHashMap<>();
    private final Set<Node> visited = Collections.newSetFromMap(new IdentityHashMap<>());

    /** @param folder where relative paths begin; null for the working directory of the process */
    public Placeholders(Map<String, String> environment, @Nullable Path folder) {
        this.environment = environment;
        this.folder = folder;
    }

    /** Maps each value that has been filled in so far to its placeholder. */
    public Map<String, String> used() {
        return used;
    }

    /** The value with the placeholders filled in of all values in it. Notes a mistake where that fails. Keys stay as they are. */
    Value filled(Value value) {
        Node node = value.node();
        if (node instanceof ScalarNode scalar) {
            return filled(value, scalar);
        }
        if (node.getAnchor() != null && !visited.add(node)) {
            return value; // reached through an alias before
        }
        if (node instanceof SequenceNode list) {
            List<Node> items = list.getValue();
            for (int i = 0; i < items.size(); i++) {
                items.set(i, filled(value.at(i, items.get(i))).node());
            }
        } else if (node instanceof MappingNode mapping) {
            mapping.getValue().replaceAll(entry -> {
                Node key = entry.getKeyNode();
                String name = key instanceof ScalarNode scalar ? scalar.getValue() : "";
                return new NodeTuple(
                        key, filled(value.at(key, name, entry.getValueNode())).node());
            });
        }
        return value;
    }

    private Value filled(Value value, ScalarNode scalar) {
        try {
            String filled = fill(scalar.getValue());
            return filled.equals(scalar.getValue()) ? value : value.with(new UnquotedScalar(scalar, filled));
        } catch (UnknownException e) {
            value.mistake(String.valueOf(e.getMessage()));
            return value;
        }
    }

    /**
     * The text with its placeholders filled in.
     *
     * @throws UnknownException when a variable or a file does not exist, or a placeholder is malformed
     */
    public String fill(String text) throws UnknownException {
        if (text.indexOf('$') < 0) { // nearly all texts
            return text;
        }
        Matcher matcher = PLACEHOLDER.matcher(text);
        StringBuilder filled = new StringBuilder();
        while (matcher.find()) {
            String value;
            if (!matcher.group(1).isEmpty()) {
                value = "${" + matcher.group(2) + matcher.group(3);
            } else if (matcher.group(3).isEmpty()) {
                throw new UnknownException("a closing }" + LITERAL);
            } else {
                value = value(matcher.group(2));
                used.put(value, matcher.group());
            }
            matcher.appendReplacement(filled, Matcher.quoteReplacement(value));
        }
        return matcher.appendTail(filled).toString();
    }

    private String value(String inner) throws UnknownException {
        if (inner.startsWith(FILE)) {
            return contents(inner.substring(FILE.length()));
        }
        int colon = inner.indexOf(':');
        String name = colon < 0 ? inner : inner.substring(0, colon);
        if (!VARIABLE.matcher(name).matches()) {
            throw new UnknownException("${NAME} with the name of an environment variable, or ${file:PATH}" + LITERAL);
        }
        String value = environment.get(name);
        if (value != null) {
            return value;
        }
        if (colon < 0) {
            throw new UnknownException(
                    "the environment variable %s to be set, or a default as in ${%s:default}".formatted(name, name)
                            + LITERAL);
        }
        return inner.substring(colon + 1);
    }

    private String contents(String path) throws UnknownException {
        try (InputStream in = Files.newInputStream(folder == null ? Path.of(path) : folder.resolve(path))) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length <= MAX_BYTES) {
                String text = StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
                return text.replaceFirst("\\r?\\n\\z", "");
            }
        } catch (IOException | InvalidPathException e) {
            // Refused below.
        }
        throw new UnknownException("a file of at most 64 KB of UTF-8 that can be read");
    }

    /** A placeholder cannot be filled in. The message says what was expected. */
    static final class UnknownException extends Exception {
        private static final long serialVersionUID = 1L;

        UnknownException(String expected) {
            super(expected);
        }
    }
}
