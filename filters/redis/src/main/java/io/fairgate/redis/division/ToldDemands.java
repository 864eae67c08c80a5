package io.fairgate.redis.division;

import java.util.HashMap;
import java.util.Map;

/** What the live nodes told last, this one included. The texts are read once, because hints may come often. */
public final class ToldDemands {

    private Map<String, String> texts = Map.of();
    private Map<String, NodeDemand> demands = Map.of();

    /** By the name of the node. */
    public Map<String, NodeDemand> of(Map<String, String> told) {
        if (texts != told) {
            texts = told;
            demands = new HashMap<>();
            told.forEach((name, text) -> demands.put(name, NodeDemand.parse(text)));
        }
        return demands;
    }
}
