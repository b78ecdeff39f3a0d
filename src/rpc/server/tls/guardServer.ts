import type { Server as HttpServer } from "node:http";
import { Server } from "node:https";
import type { TlsOptions } from "node:tls";
import { ARRIVAL_TIMES, type ArrivalTimes } from "../limits.ts";
import { HANDSHAKES } from "./handshakeLimits.ts";
import { guardHandshakes, type HandshakeParts, type Handshakes } from "./handshakes.ts";
import { secureContextOptions, type TlsRules } from "./tlsRules.ts";

/** What a server of HTTP or WebSocket is created with. Certificates of clients are judged by clientCertificates.ts. */
export function serverOptions(rules: TlsRules): TlsOptions {
  return {
    ...secureContextOptions(rules),
    requestCert: rules.clients !== undefined,
    rejectUnauthorized: false,
  };
}

interface GuardSettings {
  /** The rules of the moment. */
  readonly rules: (() => TlsRules) | undefined;
  /** IP addresses, or `localhost`, that many clients may share. */
  readonly proxyAddresses: readonly string[];
  readonly maxHandshakes?: number | undefined;
}

interface GuardParts extends HandshakeParts {
  /** For tests; ARRIVAL_TIMES if not given. */
  readonly arrivalTimes?: ArrivalTimes | undefined;
}

/** Guards the handshakes of a server that was created with these options; one without TLS has none. */
export function guardServer(
  server: HttpServer | Server,
  { rules, proxyAddresses, maxHandshakes = HANDSHAKES }: GuardSettings,
  { arrivalTimes = ARRIVAL_TIMES, ...parts }: GuardParts,
): Handshakes {
  if (rules === undefined || !(server instanceof Server)) return NONE;
  const { handshakeMs } = arrivalTimes;
  return guardHandshakes(server, { rules, proxyAddresses, maxHandshakes, handshakeMs }, parts);
}

const NONE: Handshakes = { cut: () => undefined };
