package io.fairgate.config;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.policy.PolicyFileReader;
import io.fairgate.config.yaml.Mistakes;
import io.fairgate.config.yaml.Placeholders;
import io.fairgate.config.yaml.PropertyNodes;
import io.fairgate.config.yaml.Value;
import io.fairgate.config.yaml.YamlDocument;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * Reads policy files. {@code config/fairgate.yml} is the reference of their keys.
 *
 * <p>A reader returns a checked policy, or throws an {@link InvalidPolicyException} with every mistake. Reading blocks.
 */
public final class PolicyReader {

    /** Enough for any policy: ten thousand tenants with quotas of their own need about one megabyte. */
    static final int MAX_BYTES = 8 * 1024 * 1024;

    private static final String READABLE = "a policy file, which is YAML in UTF-8 of at most 8 MB";

    private PolicyReader() {}

    /**
     * Reads a policy from a file.
     *
     * @throws InvalidPolicyException also when the file is missing, unreadable, too large or not UTF-8
     */
    public static PolicyFile read(Path file) {
        String name = file.toString();
        String text = text(file, new Mistakes(name));
        return read(
                name,
                text,
                new Placeholders(System.getenv(), file.toAbsolutePath().getParent()));
    }

    /**
     * Reads a policy that is in memory already.
     *
     * @param fileName the name of the file in mistakes
     * @throws InvalidPolicyException with every mistake of the text
     */
    public static PolicyFile read(String fileName, String text) {
        return read(fileName, text, new Placeholders(System.getenv(), null));
    }

    /**
     * Reads a policy from properties. The rules are those of a file, except that properties have no routes. Keys may be
     * in camel case, a list may be a text with commas in between, and an empty text for an empty list or mapping.
     *
     * @param prefix the common prefix of all properties; mistakes name it instead of a file and a line
     * @param tree maps of maps, with texts as leaves; a map whose keys are {@link Integer}s is a list
     * @throws InvalidPolicyException with every mistake of the properties
     */
    public static PolicyFile readProperties(String prefix, Map<String, ?> tree) {
        return PolicyFileReader.readProperties(Value.root(PropertyNodes.of(tree), Mistakes.ofProperties(prefix)));
    }

    static PolicyFile read(String fileName, String text, Placeholders placeholders) {
        Mistakes mistakes = new Mistakes(fileName);
        if (text.length() > MAX_BYTES) {
            throw mistakes.unreadable(1, "more than 8 MB", READABLE);
        }
        return PolicyFileReader.read(YamlDocument.read(text, mistakes, placeholders), placeholders.used())
                .readFrom(text, sha256(text));
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    private static String text(Path file, Mistakes mistakes) {
        if (Files.isDirectory(file)) {
            throw mistakes.unreadable(1, "a directory", READABLE);
        }
        // Reads up to the limit instead of asking for the size: a device or a growing file has no reliable size.
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw mistakes.unreadable(1, "more than 8 MB", READABLE);
            }
            CharBuffer text = CharBuffer.allocate(bytes.length); // UTF-8 never has more characters than bytes
            boolean isText = !StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes), text, true)
                    .isError();
            text.flip();
            if (!isText) {
                int line = 1 + (int) text.chars().filter(c -> c == '\n').count();
                throw mistakes.unreadable(line, "bytes that are not UTF-8", READABLE);
            }
            return text.toString();
        } catch (NoSuchFileException e) {
            throw mistakes.unreadable(1, "no such file", READABLE);
        } catch (AccessDeniedException e) {
            throw mistakes.unreadable(1, "permission denied", READABLE);
        } catch (IOException e) {
            throw mistakes.unreadable(1, String.valueOf(e.getMessage()), READABLE);
        }
    }
}
