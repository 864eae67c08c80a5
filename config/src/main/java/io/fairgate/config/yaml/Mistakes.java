package io.fairgate.config.yaml;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.Warning;
import io.fairgate.policy.IdentitySource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.error.Mark;

/** The mistakes and warnings found so far in one file, or in properties. */
public final class Mistakes {
    private static final int LONGEST_KEY = 300;
    private static final int LONGEST_FOUND = 120;
    private static final int LONGEST_EXPECTED = 1000;

    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    private final String file;
    /** The common prefix of all properties; empty for a file. */
    private final String prefix;

    /** One mistake for each place: a value that several readers visit, or that several aliases lead to, is one defect. */
    private final Map<Place, Mistake> found = new LinkedHashMap<>();
    /** A set, because several readers may visit a value. */
    private final Set<Warning> warnings = new LinkedHashSet<>();

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

    IdentitySource.Place placeInPolicy(Mark mark, String path) {
        return new IdentitySource.Place(file, line(mark), printable(key(path), LONGEST_KEY));
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

    /** Notes a mistake, unless the place has one already. */
    void add(Mark mark, String path, String what, String expected) {
        Place place = new Place(mark.getIndex(), path.substring(path.lastIndexOf('.') + 1));
        found.putIfAbsent(place, mistake(line(mark), key(path), what, expected));
    }

    void warn(Mark mark, String path, String text) {
        warnings.add(warning(mark, path, text));
    }

    Warning warning(Mark mark, String path, String text) {
        return new Warning(file, line(mark), printable(key(path), LONGEST_KEY), printable(text, LONGEST_EXPECTED));
    }

    public boolean areAny() {
        return !found.isEmpty();
    }

    /** The warnings, in the order of their lines. */
    public List<Warning> warnings() {
        return warnings.stream().sorted(Comparator.comparingInt(Warning::line)).toList();
    }

    /** Throws if there are mistakes, with what could be read in spite of them. */
    public void throwIfAny(PolicyFile readable) {
        if (!found.isEmpty()) {
            List<Mistake> inOrder = found.entrySet().stream()
                    .sorted(Comparator.comparingInt(entry -> entry.getKey().index))
                    .map(Map.Entry::getValue)
                    .toList();
            throw new InvalidPolicyException(inOrder, readable);
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
        String cut = text.length() <= longest ? text : text.substring(0, longest) + '…';
        return CONTROL.matcher(cut)
                .replaceAll(found -> "\\\\u%04x".formatted(found.group().codePointAt(0)));
    }

    /** The position of a key or a value in the file, and the last part of its path. */
    private record Place(int index, String key) {}
}
