package io.fairgate.spring.exchange;

import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Objects of one request that its subscribers carry, at most one of each class, all under one key of Reactor's
 * {@link Context}. A context of four keys or more builds texts and maps at each change.
 */
public record Carried(Object object, @Nullable Carried others) {

    /** The context with one more object, which hides an earlier one of its class. */
    public static Context with(Context context, Object object) {
        return context.put(Carried.class, new Carried(object, context.getOrDefault(Carried.class, null)));
    }

    /** The object of exactly this class; null when the context has none. */
    public static <T> @Nullable T find(ContextView context, Class<T> type) {
        Carried each = context.getOrDefault(Carried.class, null);
        while (each != null) {
            if (each.object.getClass() == type) {
                return type.cast(each.object);
            }
            each = each.others;
        }
        return null;
    }
}
