package io.fairgate.config.yaml;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.Warning;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.yaml.snakeyaml.error.Mark;

/** The mistakes and warnings found so far in one file, or in properties. */
public final class Mistakes {
    private static final int LONGEST_KEY = 300;
    private static final int LONGEST_FOUND = 120;
    private static final int LONGEST_EXPECTED = 1000;

    private final String file;
    /** The common prefix of all properties; empty for a file. */
    private final String prefix;

    private final List<Placed> found = new ArrayList<>();
    private final List<Warning> warnings = new ArrayList<>();
    private final Set<List<Object>> seen = new HashSet<>();

    public Mistakes(String file) {
        this(file, "");
    }

    private Mistakes(String file, String prefix) {
        this.file = printable(file, LONGEST_EXPECTED);
        this.prefix = prefix;
    }

    /** For properties with this prefix. */
    public static Mistakes ofProperties(String prefix) {
        return new Mistakes("", prefix);
    }

    boolean areOfProperties() {
        return !prefix.isEmpty();
    }

    /** The place of a value, for a mistake about another one. */
    String place(Mark mark, String path) {
        return prefix.isEmpty() ? "line %d".formatted(mark.getLine() + 1) : key(path);
    }

    private String key(String path) {
        if (prefix.isEmpty()) {
            return path.isEmpty() ? "file" : path;
        }
        return path.isEmpty() ? prefix : prefix + "." + path;
    }

    private int line(Mark mark) {
        return prefix.isEmpty() ? mark.getLine() + 1 : 0;
    }

    /**
     * Notes a mistake, unless the place has one already. A value that several readers visit, or that several aliases
     * lead to, is one defect.
     */
    void add(Mark mark, String path, String what, String expected) {
        String key = path.substring(path.lastIndexOf('.') + 1);
        if (seen.add(List.of(mark.getIndex(), key))) {
            found.add(new Placed(mark.getIndex(), mistake(line(mark), key(path), what, expected)));
        }
    }

    /** Notes a warning. */
    void warn(Mark mark, String path, String text) {
        warnings.add(
                new Warning(file, line(mark), printable(key(path), LONGEST_KEY), printable(text, LONGEST_EXPECTED)));
    }

    /** The warnings, in the order of their lines. */
    public List<Warning> warnings() {
        return warnings.stream().sorted(Comparator.comparingInt(Warning::line)).toList();
    }

    /**
     * Ends the reading when there are mistakes.
     *
     * @param readable what could be read in spite of the mistakes
     */
    public void throwIfAny(PolicyFile readable) {
        if (!found.isEmpty()) {
            found.sort(Comparator.comparingInt(Placed::index));
            throw new InvalidPolicyException(found.stream().map(Placed::mistake).toList(), readable);
        }
    }

    /** The exception for a file without any key to name, because it is not YAML or cannot be read at all. */
    public InvalidPolicyException unreadable(int line, String what, String expected) {
        return new InvalidPolicyException(List.of(mistake(line, "file", what, expected)), PolicyFile.NOTHING);
    }

    private Mistake mistake(int line, String key, String what, String expected) {
        return new Mistake(
                file,
                line,
                printable(key, LONGEST_KEY),
                printable(what, LONGEST_FOUND),
                printable(expected, LONGEST_EXPECTED));
    }

    /** Escapes control characters and shortens the text, so that a mistake is one line of a log or a terminal. */
    private static String printable(String text, int longest) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (i == longest) {
                return shown.append('…').toString();
            }
            char c = text.charAt(i);
            int type = Character.getType(c);
            if (Character.isISOControl(c)
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR
                    || type == Character.FORMAT) {
                shown.append("\\u%04x".formatted((int) c));
            } else {
                shown.append(c);
            }
        }
        return shown.toString();
    }

    /** A mistake and its position in the file. */
    private record Placed(int index, Mistake mistake) {}
}
