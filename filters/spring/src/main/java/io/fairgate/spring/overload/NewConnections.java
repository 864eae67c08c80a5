package io.fairgate.spring.overload;

import io.fairgate.spring.policy.PolicyHolder;
import io.micrometer.core.instrument.Counter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;

/**
 * Resets new connections that an overloaded gateway does not serve, before anything else is done for them. It is the first
 * handler of the socket that accepts connections, so the connections have neither handlers nor an event loop yet.
 */
@Sharable
final class NewConnections extends ChannelInboundHandlerAdapter {

    private final EventLoops loops;
    private final PolicyHolder policy;
    private final Counter refused;
    private final Counter notEnforced;

    NewConnections(EventLoops loops, PolicyHolder policy, Counter refused, Counter notEnforced) {
        this.loops = loops;
        this.policy = policy;
        this.refused = refused;
        this.notEnforced = notEnforced;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object accepted) {
        if (!(accepted instanceof Channel connection) || loops.opens()) {
            context.fireChannelRead(accepted);
        } else if (policy.current().enforcement().isOn()) {
            refused.increment();
            reset(connection);
        } else {
            notEnforced.increment();
            context.fireChannelRead(accepted);
        }
    }

    private static void reset(Channel connection) {
        // Without it, the end of the connection would look like that of an idle one.
        connection.config().setOption(ChannelOption.SO_LINGER, 0);
        connection.unsafe().closeForcibly();
    }
}
