package io.fairgate.spring.autoconfigure;

import io.fairgate.config.policy.PolicyFileReader;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;

/**
 * Spring's properties below one name, as a tree of maps with texts as leaves.
 *
 * <p>The rules are those of Spring's binder: the first source that has a property wins, a map is merged from all
 * sources, and a list comes from one source alone.
 */
final class PolicyProperties {

    /** An index with more digits is no index of any list. */
    private static final int MOST_DIGITS = 9;

    private final ConfigurationPropertyName root;
    private final Binder binder;
    private final Branch tree = new Branch(new LinkedHashMap<>());
    /** The first source that has items of a list. */
    private final Map<ConfigurationPropertyName, ConfigurationPropertySource> itemsFrom = new HashMap<>();

    /** The texts and branches below one name; the keys of items of a list are {@link Integer}s. */
    private record Branch(Map<Object, Object> children) {}

    private PolicyProperties(ConfigurationPropertyName root, Binder binder) {
        this.root = root;
        this.binder = binder;
    }

    /**
     * All properties below a name.
     *
     * @param binder a binder of the same sources, which fills in placeholders
     * @return the tree; a map whose keys are {@link Integer}s is a list
     */
    static Map<String, Object> below(
            ConfigurationPropertyName root, Iterable<ConfigurationPropertySource> sources, Binder binder) {
        PolicyProperties properties = new PolicyProperties(root, binder);
        for (ConfigurationPropertySource source : sources) {
            if (source instanceof IterableConfigurationPropertySource iterable) {
                iterable.stream().filter(root::isAncestorOf).forEach(name -> properties.add(name, source));
            }
        }
        return byName(properties.tree);
    }

    private void add(ConfigurationPropertyName name, ConfigurationPropertySource source) {
        Branch branch = tree;
        int last = name.getNumberOfElements() - 1;
        for (int i = root.getNumberOfElements(); i <= last; i++) {
            boolean isItem = isItem(name, i);
            if (isItem && itemsFrom.computeIfAbsent(name.chop(i), list -> source) != source) {
                return;
            }
            String element = name.getElement(i, Form.ORIGINAL);
            Object key = isItem ? Integer.valueOf(element) : element;
            if (i == last) {
                String text = binder.bind(name, Bindable.of(String.class)).orElse("");
                branch.children.putIfAbsent(key, text);
                return;
            }
            // An empty text stands for a mapping, and a later source may have its entries.
            boolean mayReplaceEmpty = !isItem(name, i + 1);
            Object child = branch.children.compute(
                    key,
                    (k, now) -> now == null || (now.equals("") && mayReplaceEmpty)
                            ? new Branch(new LinkedHashMap<>())
                            : now);
            if (!(child instanceof Branch next)) {
                return;
            }
            branch = next;
        }
    }

    /** A number can be an index of a list, or a name, such as the id of a member. */
    private static boolean isItem(ConfigurationPropertyName name, int element) {
        return name.isNumericIndex(element)
                && name.getElement(element, Form.ORIGINAL).length() <= MOST_DIGITS
                && !PolicyFileReader.holdsNames(name.getElement(element - 1, Form.ORIGINAL));
    }

    private static Object plain(Object child) {
        if (!(child instanceof Branch branch)) {
            return child;
        }
        if (!branch.children.keySet().stream().allMatch(Integer.class::isInstance)) {
            return byName(branch);
        }
        Map<Object, Object> items = new TreeMap<>();
        branch.children.forEach((index, item) -> items.put(index, plain(item)));
        return items;
    }

    private static Map<String, Object> byName(Branch branch) {
        Map<String, Object> entries = new LinkedHashMap<>();
        branch.children.forEach((key, entry) -> entries.put(key.toString(), plain(entry)));
        return entries;
    }
}
