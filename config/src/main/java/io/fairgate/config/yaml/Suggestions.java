package io.fairgate.config.yaml;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the known word that is nearest to a misspelt one. */
public final class Suggestions {
    private static final int LONGEST = 64;
    private static final int LISTED = 12;

    private Suggestions() {}

    /** The known word that takes the fewest edits, or null when none is near. */
    static @Nullable String nearest(String word, Collection<String> known) {
        String nearest = null;
        int fewest = Integer.MAX_VALUE;
        for (String candidate : known) {
            // Long words are rarely typing mistakes, and the cost grows with the square of the length.
            if (word.length() > LONGEST || candidate.length() > LONGEST) {
                continue;
            }
            int edits = edits(word.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
            if (edits < fewest && isNear(edits, word, candidate)) {
                nearest = candidate;
                fewest = edits;
            }
        }
        return nearest;
    }

    /** {@code one of a, b; did you mean a?}, for the end of a mistake. */
    public static String oneOf(String word, Collection<String> known) {
        String listed = String.join(", ", known.stream().limit(LISTED).toList());
        return (known.size() == 1 ? "" : "one of ")
                + listed
                + (known.size() > LISTED ? ", …" : "")
                + didYouMean(word, known);
    }

    /** {@code ; did you mean a?}, for the end of a mistake; empty when no known word is near. */
    public static String didYouMean(String word, Collection<String> known) {
        String nearest = nearest(word, known);
        return nearest == null ? "" : "; did you mean %s?".formatted(nearest);
    }

    /** One edit, or one per three letters; at most half of the shorter word, or {@code a} would be near {@code b}. */
    private static boolean isNear(int edits, String word, String candidate) {
        int longer = Math.max(word.length(), candidate.length());
        int shorter = Math.min(word.length(), candidate.length());
        return edits <= Math.max(1, longer / 3) && edits * 2 <= shorter;
    }

    /** Letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
    private static int edits(String a, String b) {
        int[][] table = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    table[i][j] = i + j;
                    continue;
                }
                int replaced = table[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                table[i][j] = Math.min(replaced, Math.min(table[i - 1][j], table[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    table[i][j] = Math.min(table[i][j], table[i - 2][j - 2] + 1);
                }
            }
        }
        return table[a.length()][b.length()];
    }
}
