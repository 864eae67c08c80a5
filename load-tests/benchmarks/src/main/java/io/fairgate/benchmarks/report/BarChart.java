package io.fairgate.benchmarks.report;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * A picture of horizontal bars, in SVG: a row for each thing that is compared, and beside each other one panel for each
 * quantity. A bar ends at the median of the rounds, and a thin line reaches from the lowest to the highest value.
 */
public record BarChart(String title, List<Row> rows, List<Panel> panels) {

    /**
     * One of the things that are compared.
     *
     * @param isOwn whether it gets the colour that stands out
     */
    public record Row(String name, boolean isOwn) {}

    /**
     * A quantity.
     *
     * @param unit panels with the same unit have the same scale
     * @param format of a number
     * @param values one for each row
     * @param target a value at which a dashed line is drawn
     */
    public record Panel(String name, String unit, String format, List<Spread> values, OptionalDouble target) {

        public Panel {
            values = List.copyOf(values);
        }

        private double most() {
            double most = values.stream().mapToDouble(Spread::most).max().orElse(0);
            return Math.max(most, target.orElse(0));
        }
    }

    public BarChart {
        rows = List.copyOf(rows);
        panels = List.copyOf(panels);
        for (Panel panel : panels) {
            if (panel.values().size() != rows.size()) {
                throw new IllegalArgumentException("%s: %d values (expected: %d)"
                        .formatted(panel.name(), panel.values().size(), rows.size()));
            }
        }
    }

    private static final int WIDTH = 960;
    private static final int MARGIN = 20;
    private static final int NAMES = 210;
    private static final int GAP = 28;

    /** For the number behind the longest bar. */
    private static final int NUMBER = 48;

    private static final int TOP = 80;
    private static final int ROW = 32;
    private static final int BAR = 18;
    private static final int BOTTOM = 40;

    private static final String LEGEND = "Bars: the median of all rounds. Thin lines: the lowest to the highest.";
    private static final String TARGET = " Dashed: the target.";

    private static final String START = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" role="img"
            aria-label="%s">
            <style>
            .t{font-size:16px;font-weight:bold;fill:#111}.h{font-size:13px;font-weight:bold;fill:#222}
            .n{font-size:13px;fill:#111}
            .v{font-size:12px;fill:#222}.s{font-size:11px;fill:#555}.b{fill:#a9b7c6}.o{fill:#2f6f9f}
            .w{stroke:#333;stroke-width:1.5}.a{stroke:#888}.m{stroke:#b0552f;stroke-width:1.5;stroke-dasharray:4 3}
            </style>
            <rect width="%1$d" height="%2$d" fill="#fff"/>
            <text class="t" x="%4$d" y="30">%3$s</text>
            """;

    public String svg() {
        StringBuilder svg = new StringBuilder();
        svg.append(Formats.number(START, WIDTH, height(), escaped(title), MARGIN));
        for (int row = 0; row < rows.size(); row++) {
            svg.append(text("n", MARGIN, top(row) + BAR - 4, rows.get(row).name()));
        }
        IntStream.range(0, panels.size()).forEach(panel -> append(svg, panels.get(panel), left(panel)));
        boolean hasTarget = panels.stream().anyMatch(panel -> panel.target().isPresent());
        svg.append(text("s", MARGIN, height() - 12, hasTarget ? LEGEND + TARGET : LEGEND));
        return svg.append("</svg>\n").toString();
    }

    private int height() {
        return TOP + rows.size() * ROW + BOTTOM;
    }

    private static int top(int row) {
        return TOP + row * ROW;
    }

    private int panelWidth() {
        return (WIDTH - 2 * MARGIN - NAMES - (panels.size() - 1) * GAP) / panels.size();
    }

    private int left(int panel) {
        return MARGIN + NAMES + panel * (panelWidth() + GAP);
    }

    private void append(StringBuilder svg, Panel panel, int left) {
        double scale = (panelWidth() - NUMBER) / most(panel.unit());
        svg.append(text("h", left, TOP - 16, panel.name() + ", " + panel.unit()));
        for (int row = 0; row < rows.size(); row++) {
            Spread values = panel.values().get(row);
            int top = top(row);
            svg.append(Formats.number(
                    "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                    rows.get(row).isOwn() ? "o" : "b", left, top, values.median() * scale, BAR));
            double middle = top + BAR / 2.0;
            svg.append(Formats.number(
                    "<line class=\"w\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%2$.1f\"/>\n",
                    left + values.least() * scale, middle, left + values.most() * scale));
            svg.append(text(
                    "v",
                    left + values.most() * scale + 5,
                    top + BAR - 5,
                    Formats.number(panel.format(), values.median())));
        }
        svg.append(line("a", left, TOP - 8, top(rows.size())));
        panel.target().ifPresent(target -> svg.append(line("m", left + target * scale, TOP - 8, top(rows.size()))));
    }

    private double most(String unit) {
        return panels.stream()
                .filter(panel -> panel.unit().equals(unit))
                .mapToDouble(Panel::most)
                .reduce(Double.MIN_NORMAL, Math::max);
    }

    private static String line(String kind, double x, int from, int to) {
        return Formats.number(
                "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%2$.1f\" y2=\"%d\"/>\n", kind, x, from, to);
    }

    private static String text(String kind, double x, int y, String text) {
        return Formats.number("<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n", kind, x, y, escaped(text));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
