package io.fairgate.spring.policyfile;

import io.fairgate.config.routes.Component;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.cloud.gateway.support.Configurable;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.cloud.gateway.support.ShortcutConfigurable.ShortcutType;
import org.springframework.util.StringUtils;

/** Finds out which arguments a factory of filters or predicates uses. */
public final class RouteArguments {

    private RouteArguments() {}

    public static Component of(String name, ShortcutConfigurable factory) {
        Class<?> config =
                factory instanceof Configurable<?> configurable ? configurable.getConfigClass() : Object.class;
        boolean isDefault = factory.shortcutType() == ShortcutType.DEFAULT;
        Set<String> taken = takesAny(config) || !isDefault ? Set.of() : properties(config);
        boolean isInOrder = !taken.isEmpty();
        return new Component(name, isInOrder ? factory.shortcutFieldOrder() : null, taken);
    }

    /** Argument classes that are maps, collections or plain objects accept any argument, so they are not checked. */
    private static boolean takesAny(Class<?> config) {
        return config == Object.class
                || Map.class.isAssignableFrom(config)
                || Collection.class.isAssignableFrom(config);
    }

    /** As Boot binds them: by setters that are not private or protected, and into collections without a setter. */
    private static Set<String> properties(Class<?> config) {
        Set<String> properties = new TreeSet<>();
        for (Class<?> type = config; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (isSetter(method)) {
                    properties.addAll(named(method.getName(), method.getParameterTypes()[0]));
                } else if (isCollection(method)) {
                    properties.add(propertyOf(method.getName()));
                }
            }
        }
        return properties;
    }

    private static boolean isSetter(Method method) {
        return method.getName().matches("set[A-Z].*") && method.getParameterCount() == 1 && isBound(method);
    }

    private static boolean isCollection(Method method) {
        boolean isCollection = Collection.class.isAssignableFrom(method.getReturnType())
                || Map.class.isAssignableFrom(method.getReturnType());
        return method.getName().matches("get[A-Z].*")
                && method.getParameterCount() == 0
                && isCollection
                && isBound(method);
    }

    private static boolean isBound(Method method) {
        int modifiers = method.getModifiers();
        return !Modifier.isPrivate(modifiers)
                && !Modifier.isProtected(modifiers)
                && !Modifier.isStatic(modifiers)
                && !Modifier.isAbstract(modifiers)
                && !method.isBridge();
    }

    /** The property of a setter; of a bean within its factory, each property of that bean. */
    private static Set<String> named(String setter, Class<?> type) {
        String name = propertyOf(setter);
        boolean isBean = type.isMemberClass() && !type.isEnum() && !type.isInterface();
        return isBean
                ? properties(type).stream().map(below -> name + "." + below).collect(Collectors.toSet())
                : Set.of(name);
    }

    private static String propertyOf(String accessor) {
        return StringUtils.uncapitalizeAsProperty(accessor.substring("set".length()));
    }
}
