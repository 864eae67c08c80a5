package io.fairgate.config.yaml;

import io.fairgate.config.model.InvalidPolicyException;
import java.io.StringReader;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.parser.Parser;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * The text of a file as one tree of YAML nodes, which keep their lines. No objects are constructed from them, so no tag
 * can make SnakeYAML load a class, as tags can with its {@code load} methods.
 */
public final class YamlDocument {

    /** The maximum nesting of lists and mappings. The grammar needs 7 levels; arguments of filters need a few more. */
    static final int MAX_NESTING = 40;

    private static final String ONE_DOCUMENT = "one YAML document";

    private YamlDocument() {}

    /**
     * The root of the document.
     *
     * @throws InvalidPolicyException when the text cannot be read as one bounded YAML document; after a syntax error,
     *     nothing below the root is certain
     */
    public static Value read(String text, Mistakes mistakes, Placeholders placeholders) {
        String yaml = text.startsWith("\uFEFF") ? text.substring(1) : text;
        requirePrintable(yaml, mistakes);
        StreamReader stream = new StreamReader(new StringReader(yaml));
        Parser parser = new ParserImpl(stream, options());
        Node root;
        try {
            root = compose(parser, mistakes);
        } catch (MarkedYAMLException e) {
            Mark mark = e.getProblemMark() != null ? e.getProblemMark() : e.getContextMark();
            int line = mark == null ? 1 : mark.getLine() + 1;
            String where = mark == null ? "" : " at column " + (mark.getColumn() + 1);
            throw mistakes.unreadable(line, e.getProblem() + where, ONE_DOCUMENT);
        } catch (YAMLException e) {
            // Only the limits of options() throw this, without a position. The parser has not moved on since.
            throw mistakes.unreadable(
                    lineOf(parser), String.valueOf(e.getMessage()), "at most %d levels".formatted(MAX_NESTING));
        } catch (IllegalArgumentException e) {
            // SnakeYAML throws these for escapes that are cut off or beyond Unicode.
            throw mistakes.unreadable(
                    stream.getLine() + 1, "an invalid escape", "an escape such as \"\\x41\" or \"\\u0041\"");
        }
        if (yaml.indexOf('&') >= 0) { // without an anchor there is no alias
            Expansion.check(root, mistakes);
        }
        Value value = Value.root(root, mistakes);
        return yaml.indexOf('$') >= 0 ? placeholders.filled(value) : value;
    }

    private static Node compose(Parser parser, Mistakes mistakes) {
        Composer composer = new Composer(parser, new Resolver(), options());
        Node root = composer.checkNode() ? composer.getNode() : null;
        if (root == null || isEmpty(root)) {
            throw mistakes.unreadable(1, "nothing", "a policy with at least tenants");
        }
        if (composer.checkNode()) {
            throw mistakes.unreadable(lineOf(parser), "another document", ONE_DOCUMENT);
        }
        return root;
    }

    private static LoaderOptions options() {
        LoaderOptions options = new LoaderOptions();
        options.setNestingDepthLimit(MAX_NESTING);
        options.setCodePointLimit(Integer.MAX_VALUE); // the reader bounds the file already
        options.setMaxAliasesForCollections(Integer.MAX_VALUE); // Expansion bounds what they stand for
        return options;
    }

    private static boolean isEmpty(Node root) {
        return root instanceof ScalarNode scalar
                && scalar.getTag().equals(Tag.NULL)
                && scalar.getValue().isEmpty();
    }

    private static int lineOf(Parser parser) {
        try {
            return parser.peekEvent().getStartMark().getLine() + 1;
        } catch (YAMLException | IllegalArgumentException e) {
            return 1;
        }
    }

    /** SnakeYAML refuses these characters too, but gives an offset instead of a line. */
    private static void requirePrintable(String text, Mistakes mistakes) {
        int line = 1;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int c = text.codePointAt(i);
            boolean isAscii = c >= ' ' && c <= '~';
            if (!isAscii && !StreamReader.isPrintable(c)) {
                throw mistakes.unreadable(line, "the character U+%04X".formatted(c), "printable characters");
            }
            line += c == '\n' ? 1 : 0;
        }
    }
}
