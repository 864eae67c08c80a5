package io.fairgate.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
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

    private final ConfigurationPropertyName root;
    private final Binder binder;
    private final Branch tree = new Branch();

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
        Map<String, Object> all = new LinkedHashMap<>();
        properties.tree.children.forEach((key, child) -> all.put(key, plain(child)));
        return all;
    }

    private void add(ConfigurationPropertyName name, ConfigurationPropertySource source) {
        Branch branch = tree;
        int last = name.getNumberOfElements() - 1;
        for (int i = root.getNumberOfElements(); branch != null && i < last; i++) {
            branch = branch.accepts(name, i, source) ? branch.child(name, i) : null;
        }
        if (branch != null && branch.accepts(name, last, source)) {
            branch.children.putIfAbsent(
                    name.getElement(last, Form.ORIGINAL),
                    binder.bind(name, Bindable.of(String.class)).orElse(""));
        }
    }

    private static Object plain(Object child) {
        return child instanceof Branch branch ? branch.plain() : child;
    }

    /** The texts and branches below one name. */
    private static final class Branch {

        private final Map<String, Object> children = new LinkedHashMap<>();
        private boolean isList = true;
        private @Nullable ConfigurationPropertySource itemsFrom;

        /** Whether the source may give this element: items of a list come from the first source that has any. */
        boolean accepts(ConfigurationPropertyName name, int element, ConfigurationPropertySource source) {
            if (!name.isNumericIndex(element)) {
                isList = false;
                return true;
            }
            itemsFrom = itemsFrom == null ? source : itemsFrom;
            return itemsFrom == source;
        }

        /**
         * The branch of a name; null when an earlier source has a text there. An empty text stands for a mapping, and a
         * later source may have its entries.
         */
        @Nullable
        Branch child(ConfigurationPropertyName name, int element) {
            String key = name.getElement(element, Form.ORIGINAL);
            Object child = children.get(key);
            if (child == null || (child.equals("") && !name.isNumericIndex(element + 1))) {
                child = new Branch();
                children.put(key, child);
            }
            return child instanceof Branch branch ? branch : null;
        }

        Map<?, Object> plain() {
            Map<String, Object> byName = new LinkedHashMap<>();
            Map<Integer, Object> byIndex = new TreeMap<>();
            children.forEach((key, child) -> {
                if (isList) {
                    byIndex.put(Integer.valueOf(key), PolicyProperties.plain(child));
                } else {
                    byName.put(key, PolicyProperties.plain(child));
                }
            });
            return isList ? byIndex : byName;
        }
    }
}
