package io.fairgate.config.yaml;

/**
 * The declaration of one key of a policy.
 *
 * @param meaning what is expected where the key is missing or has another type; may be empty where the type says that
 */
public record Key(String name, KeyType type, String meaning, boolean isRequired) {

    public static Key key(String name, KeyType type) {
        return key(name, type, "");
    }

    public static Key key(String name, KeyType type, String meaning) {
        return new Key(name, type, meaning, false);
    }

    public Key required() {
        return required(meaning);
    }

    public Key required(String expected) {
        return new Key(name, type, expected, true);
    }
}
