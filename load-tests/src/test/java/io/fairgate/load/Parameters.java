package io.fairgate.load;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Turns named texts into checked values, or refuses them with a sentence: what was found, and what was expected. */
public record Parameters(Source source) {

    /** The tenant names that the gateway accepts. */
    static final Pattern TENANT = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    /** Gatling would read a number sign and a brace as the start of an expression. */
    static final Pattern PATH = Pattern.compile("/[^#\\s]*");

    /** Where a text comes from: the system properties, or a test. */
    @FunctionalInterface
    public interface Source {
        @Nullable
        String get(String key);
    }

    /** Whether there is any text with this name. */
    public boolean isGiven(String key) {
        String found = source.get(key);
        return found != null && !found.isBlank();
    }

    /**
     * A text that must be given.
     *
     * @param expected says what it is
     */
    public String required(String key, String expected) {
        if (!isGiven(key)) {
            throw unexpected(key, "nothing", expected + ", as -D" + key + "=…");
        }
        return text(key, "");
    }

    String text(String key, String fallback, Pattern expected) {
        String text = text(key, fallback);
        if (!expected.matcher(text).matches()) {
            throw unexpected(key, text, expected.pattern());
        }
        return text;
    }

    public int whole(String key, int fallback, int most) {
        String expected = "a whole number from 1 to " + most;
        String text = text(key, String.valueOf(fallback));
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException malformed) {
            // Refused below, with the same message as a number out of range.
        }
        throw unexpected(key, text, expected);
    }

    double factor(String key, double fallback) {
        String text = text(key, String.valueOf(fallback));
        try {
            double number = Double.parseDouble(text);
            if (number >= 1 && number <= 1000) {
                return number;
            }
        } catch (NumberFormatException malformed) {
            // As above.
        }
        throw unexpected(key, text, "a number from 1 to 1000");
    }

    boolean flag(String key) {
        String text = text(key, "false");
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw unexpected(key, text, "true or false");
        };
    }

    /** The scheme and authority of a URL. A path is refused, because it would be ignored. */
    URI origin(String key, String fallback) {
        String text = text(key, fallback);
        try {
            URI uri = URI.create(text);
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            boolean bare = "".equals(uri.getPath()) || "/".equals(uri.getPath());
            if (http && bare && uri.getHost() != null) {
                return URI.create(uri.getScheme() + "://" + uri.getRawAuthority());
            }
        } catch (IllegalArgumentException malformed) {
            // As above.
        }
        throw unexpected(key, text, "a URL without a path, such as http://localhost:8080");
    }

    /**
     * The origin of the gateway under load. To load another person's machine is an attack, so a remote host needs the explicit
     * {@code allowRemote}.
     */
    public URI target(String key, String fallback) {
        URI target = origin(key, fallback);
        if (!flag("allowRemote") && !isThisMachine(target.getHost())) {
            throw unexpected(
                    key,
                    target.toString(),
                    "this machine's loopback, or -DallowRemote=true if you may put load on that host");
        }
        return target;
    }

    private static boolean isThisMachine(String host) {
        try {
            return Arrays.stream(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    private String text(String key, String fallback) {
        String found = source.get(key);
        return found == null || found.isBlank() ? fallback : found.strip();
    }

    static IllegalArgumentException unexpected(String key, String found, String expected) {
        return new IllegalArgumentException("%s: %s (expected: %s)".formatted(key, found, expected));
    }
}
