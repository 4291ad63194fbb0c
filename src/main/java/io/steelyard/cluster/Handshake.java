package io.steelyard.cluster;

import com.hazelcast.nio.MemberSocketInterceptor;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Properties;

/**
 * Before the first byte of Hazelcast's on a connection, each side proves to the other that it knows
 * the secret, by its code of two fresh numbers, one of each side. The secret itself is never sent.
 * The connection is not encrypted, nor are its later bytes bound to the proof: against who can
 * change what is under way, the network must protect it.
 */
final class Handshake implements MemberSocketInterceptor {
  private static final int LIMIT_MS = 3000;
  private static final int BYTES = 32;
  private static final byte ACCEPTS = 1;
  private static final byte CONNECTS = 2;

  private final byte[] key;
  private final SecureRandom random = new SecureRandom();
  private volatile SocketAddress stranger;

  Handshake(byte[] key) {
    this.key = key;
  }

  /** Whom this process tried to reach, and who does not share its secret; null for nobody. */
  SocketAddress stranger() {
    return stranger;
  }

  @Override
  public void init(Properties properties) {
    // given to the constructor
  }

  @Override
  public void onConnect(Socket socket) throws IOException {
    byte[] mine = number();
    within(
        socket,
        () -> {
          send(socket, mine);
          byte[] theirs = receive(socket);
          if (!MessageDigest.isEqual(receive(socket), proof(ACCEPTS, mine, theirs))) {
            stranger = socket.getRemoteSocketAddress();
            throw new IOException(stranger + " does not share cluster.secret");
          }
          send(socket, proof(CONNECTS, mine, theirs));
        });
  }

  @Override
  public void onAccept(Socket socket) throws IOException {
    byte[] mine = number();
    within(
        socket,
        () -> {
          byte[] theirs = receive(socket);
          send(socket, mine, proof(ACCEPTS, theirs, mine));
          if (!MessageDigest.isEqual(receive(socket), proof(CONNECTS, theirs, mine))) {
            throw new IOException(
                socket.getRemoteSocketAddress() + " does not share cluster.secret");
          }
        });
  }

  private interface Exchange {
    void run() throws IOException;
  }

  private static void within(Socket socket, Exchange exchange) throws IOException {
    int before = socket.getSoTimeout();
    socket.setSoTimeout(LIMIT_MS);
    exchange.run();
    socket.setSoTimeout(before);
  }

  private byte[] number() {
    byte[] number = new byte[BYTES];
    random.nextBytes(number);
    return number;
  }

  /** Says which side it is of, so that it cannot be sent back as the other's. */
  private byte[] proof(byte side, byte[] connecting, byte[] accepting) {
    return ClusterSecret.mac(
        key, ByteBuffer.allocate(1 + 2 * BYTES).put(side).put(connecting).put(accepting).array());
  }

  private static void send(Socket socket, byte[]... parts) throws IOException {
    OutputStream out = socket.getOutputStream();
    for (byte[] part : parts) {
      out.write(part);
    }
    out.flush();
  }

  private static byte[] receive(Socket socket) throws IOException {
    byte[] bytes = new byte[BYTES];
    new DataInputStream(socket.getInputStream()).readFully(bytes);
    return bytes;
  }
}
