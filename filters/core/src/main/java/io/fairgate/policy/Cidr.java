package io.fairgate.policy;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A network in CIDR notation (RFC 4632, RFC 4291), such as {@code 10.0.0.0/8} or {@code ::1/128}.
 *
 * @param network the address of the network; all bits after the prefix are 0
 * @param prefix how many leading bits the addresses of the network have in common
 */
public record Cidr(InetAddress network, int prefix) {

    private static final Pattern PREFIX = Pattern.compile("\\d{1,3}");

    public Cidr {
        byte[] bytes = network.getAddress();
        if (prefix < 0 || prefix > bytes.length * 8) {
            throw new IllegalArgumentException("prefix: %d (expected: 0 to %d)".formatted(prefix, bytes.length * 8));
        }
        int lowestBit = new BigInteger(1, bytes).getLowestSetBit();
        if (lowestBit >= 0 && lowestBit < bytes.length * 8 - prefix) {
            throw new IllegalArgumentException("%s/%d: bits behind the prefix are set (expected: the network's address)"
                    .formatted(network.getHostAddress(), prefix));
        }
    }

    /**
     * Reads {@code address/prefix}, or an address alone for a single host.
     *
     * @throws IllegalArgumentException saying what was expected
     */
    public static Cidr parse(String text) {
        int slash = text.indexOf('/');
        InetAddress network = IpAddress.parse(slash < 0 ? text : text.substring(0, slash));
        if (network == null
                || (slash >= 0 && !PREFIX.matcher(text.substring(slash + 1)).matches())) {
            throw notANetwork(text);
        }
        int prefix = slash < 0 ? network.getAddress().length * 8 : Integer.parseInt(text.substring(slash + 1));
        return new Cidr(network, prefix);
    }

    /** Whether together they hold all IPv4 or all IPv6 addresses, as {@code 0.0.0.0/1} and {@code 128.0.0.0/1} do. */
    public static boolean coverEverything(Collection<Cidr> networks) {
        return areCovered(32, networks) || areCovered(128, networks);
    }

    /** Two networks are disjoint, or one contains the other. So it adds up the sizes of those that no other contains. */
    private static boolean areCovered(int bits, Collection<Cidr> networks) {
        List<Cidr> sorted = networks.stream()
                .filter(network -> network.network.getAddress().length * 8 == bits)
                .sorted(Comparator.<Cidr, byte[]>comparing(
                                network -> network.network.getAddress(), Arrays::compareUnsigned)
                        .thenComparingInt(Cidr::prefix))
                .toList();
        BigInteger covered = BigInteger.ZERO;
        Cidr last = null;
        for (Cidr network : sorted) {
            if (last == null || !last.contains(network.network)) {
                covered = covered.add(BigInteger.ONE.shiftLeft(bits - network.prefix));
                last = network;
            }
        }
        return covered.equals(BigInteger.ONE.shiftLeft(bits));
    }

    private static IllegalArgumentException notANetwork(String text) {
        return new IllegalArgumentException("%s (expected: a network such as 10.0.0.0/8 or ::1/128)".formatted(text));
    }

    /** Whether the address is in this network. An IPv4 address is never in an IPv6 network, nor the other way round. */
    public boolean contains(InetAddress address) {
        byte[] ours = network.getAddress();
        byte[] others = address.getAddress();
        int differs = Arrays.mismatch(ours, others);
        if (ours.length != others.length || differs < 0) {
            return ours.length == others.length;
        }
        int sameBits = differs * 8 + Integer.numberOfLeadingZeros((ours[differs] ^ others[differs]) & 0xff) - 24;
        return sameBits >= prefix;
    }

    /** Whether an address is in both networks. */
    public boolean overlaps(Cidr other) {
        return contains(other.network) || other.contains(network);
    }

    @Override
    public String toString() {
        return network.getHostAddress() + "/" + prefix;
    }
}
