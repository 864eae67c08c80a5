package io.fairgate.gateway.operate;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Rows of texts and numbers, in columns that are as wide as their longest cell. */
final class Table {

    private final List<String[]> rows = new ArrayList<>();
    private final int texts;

    /** @param texts how many of the first columns are texts, which are set to the left */
    Table(int texts, String... heads) {
        this.texts = texts;
        rows.add(heads);
    }

    Table row(String... cells) {
        rows.add(cells);
        return this;
    }

    boolean isEmpty() {
        return rows.size() == 1;
    }

    void print(PrintWriter out) {
        int columns = rows.get(0).length;
        int[] widths = new int[columns];
        for (String[] row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String space = " ".repeat(widths[i] - row[i].length());
                line.append(i == 0 ? "" : "  ").append(i < texts ? row[i] + space : space + row[i]);
            }
            out.println(line.toString().stripTrailing());
        }
    }

    // ---- cells ----

    /** A name that a client may have chosen: without control characters, which a terminal would obey. */
    static String text(String name) {
        StringBuilder shown = new StringBuilder();
        name.codePoints().forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return shown.toString();
    }

    static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** A time with the unit that fits. */
    static String time(double seconds) {
        if (seconds < 0.0005) {
            return "0";
        } else if (seconds < 1) {
            return Math.round(1000 * seconds) + " ms";
        } else if (seconds < 120) {
            return String.format(Locale.ROOT, "%.1f s", seconds);
        }
        return seconds < 7200
                ? String.format(Locale.ROOT, "%.0f min", seconds / 60)
                : String.format(Locale.ROOT, "%.1f h", seconds / 3600);
    }
}
