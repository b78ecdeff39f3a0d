import { once } from "node:events";
import { request } from "node:https";
import net from "node:net";
import type tls from "node:tls";
import type { Logger } from "../../../../src/observability/logger.ts";
import { silentLogger } from "../../../../src/observability/logger.ts";
import { createRpcMetrics } from "../../../../src/rpc/rpcMetrics.ts";
import type { ArrivalTimes } from "../../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../../src/rpc/server/server.ts";
import type { HandshakeTime } from "../../../../src/rpc/server/tls/handshakeTime.ts";
import type { TlsIdentity, TlsRules } from "../../../../src/rpc/server/tls/tlsRules.ts";
import type { TlsFiles } from "../../../builders/tlsFiles.ts";
import { aToyDispatcher } from "../../toyMethods.ts";
import { anHttpServer, HTTP_DEFAULTS } from "../servers.ts";

export const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
export const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';

export function identityOf({ key, certificate }: TlsFiles): TlsIdentity {
  return { kind: "pem", key, certificates: certificate };
}

/** A server with the certificate; what it refuses, and what it warns of. */
export async function aTlsServer(
  certificate: TlsFiles,
  more: Partial<TlsRules> = {},
  proxyAddresses: readonly string[] = [],
  { handshakeTime, arrivalTimes }: { handshakeTime?: HandshakeTime; arrivalTimes?: ArrivalTimes } = {},
) {
  const rejections: string[] = [];
  const warnings: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: ({ reason }) => void warnings.push(String(reason)),
  };
  const metrics = createRpcMetrics(
    () => 0,
    (one) => one.kind === "rejected" && rejections.push(one.reason),
  );
  const rules: { current: TlsRules } = {
    current: {
      identity: identityOf(certificate),
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      ciphers: undefined,
      clients: undefined,
      ...more,
    },
  };
  const { dispatcher } = aToyDispatcher();
  const server = await anHttpServer(
    dispatcher,
    { tls: rules.current, proxyAddresses },
    {
      metrics,
      logger,
      handshakeTime,
      current: () => ({ ...HTTP_DEFAULTS, tls: rules.current }),
      ...(arrivalTimes && { arrivalTimes }),
    },
  );
  return { server, rules, rejections, warnings };
}

/** The status and body, or the error. */
export function ask(
  server: RpcServer,
  trusted: TlsFiles,
  options: tls.ConnectionOptions = {},
): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        method: "POST",
        agent: false,
        ca: trusted.certificate,
        ...options,
      },
      (incoming) => {
        let text = "";
        incoming.on("data", (piece: Buffer) => {
          text += piece.toString();
        });
        incoming.on("end", () => resolve(`${incoming.statusCode} ${text}`));
      },
    );
    outgoing.on("error", (error: NodeJS.ErrnoException) => resolve(`error ${error.code}`));
    outgoing.end(BODY);
  });
}

export async function connected(server: RpcServer, localAddress?: string): Promise<net.Socket> {
  const socket = net.connect({ port: server.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

export async function textUntilClosed(socket: net.Socket): Promise<string> {
  let text = "";
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}
