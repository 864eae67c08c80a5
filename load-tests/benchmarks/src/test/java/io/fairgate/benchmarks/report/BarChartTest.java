package io.fairgate.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.BarChart.Row;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class BarChartTest {

    private static final List<Row> ROWS = List.of(new Row("others", false), new Row("<ours>", true));

    private static Spread spread(double... values) {
        return new Spread(Arrays.stream(values).boxed().toList());
    }

    private static List<Element> elements(BarChart chart, String tag, String kind) throws Exception {
        Document picture = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(chart.svg().getBytes(StandardCharsets.UTF_8)));
        NodeList all = picture.getElementsByTagName(tag);
        return IntStream.range(0, all.getLength())
                .mapToObj(i -> (Element) all.item(i))
                .filter(element -> element.getAttribute("class").equals(kind))
                .toList();
    }

    private static double number(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute));
    }

    @Test
    void the_length_of_a_bar_is_the_median() throws Exception {
        BarChart chart = new BarChart(
                "title",
                ROWS,
                List.of(new Panel(
                        "time", "ms", "%.0f", List.of(spread(100), spread(10, 50, 60)), OptionalDouble.empty())));
        Element others = elements(chart, "rect", "b").get(0);
        Element ours = elements(chart, "rect", "o").get(0);

        assertThat(number(ours, "width") / number(others, "width")).isEqualTo(0.5);
        assertThat(elements(chart, "text", "v"))
                .extracting(Element::getTextContent)
                .containsExactly("100", "50");
    }

    @Test
    void a_thin_line_reaches_from_the_lowest_to_the_highest() throws Exception {
        BarChart chart = new BarChart(
                "title",
                ROWS,
                List.of(new Panel(
                        "time", "ms", "%.0f", List.of(spread(100), spread(10, 50, 60)), OptionalDouble.of(50))));
        Element bar = elements(chart, "rect", "o").get(0);
        Element line = elements(chart, "line", "w").get(1);
        Element target = elements(chart, "line", "m").get(0);
        double start = number(bar, "x");
        double unit = number(bar, "width") / 50;

        assertThat(number(line, "x1")).isCloseTo(start + 10 * unit, within(0.1));
        assertThat(number(line, "x2")).isCloseTo(start + 60 * unit, within(0.1));
        assertThat(number(target, "x1")).isCloseTo(start + 50 * unit, within(0.1));
    }

    @Test
    void panels_with_the_same_unit_have_the_same_scale() throws Exception {
        List<Row> row = List.of(new Row("ours", true));
        Panel low = new Panel("half", "ms", "%.0f", List.of(spread(50)), OptionalDouble.empty());
        Panel high = new Panel("most", "ms", "%.0f", List.of(spread(100)), OptionalDouble.empty());
        Panel other = new Panel("use", "%", "%.0f", List.of(spread(50)), OptionalDouble.empty());
        List<Element> bars = elements(new BarChart("title", row, List.of(low, high, other)), "rect", "o");

        assertThat(number(bars.get(0), "width")).isCloseTo(number(bars.get(1), "width") / 2, within(0.1));
        assertThat(number(bars.get(2), "width")).isEqualTo(number(bars.get(1), "width"));
    }

    @Test
    void names_cannot_break_the_picture() throws Exception {
        BarChart chart = new BarChart(
                "\"a\" & b",
                ROWS,
                List.of(new Panel("time", "ms", "%.0f", List.of(spread(1), spread(1)), OptionalDouble.empty())));

        assertThat(elements(chart, "text", "n"))
                .extracting(Element::getTextContent)
                .containsExactly("others", "<ours>");
        assertThat(elements(chart, "text", "t"))
                .extracting(Element::getTextContent)
                .containsExactly("\"a\" & b");
    }

    @Test
    void a_panel_needs_a_value_for_each_row() {
        Panel panel = new Panel("time", "ms", "%.0f", List.of(spread(1)), OptionalDouble.empty());

        assertThatThrownBy(() -> new BarChart("title", ROWS, List.of(panel)))
                .hasMessage("time: 1 values (expected: 2)");
    }
}
