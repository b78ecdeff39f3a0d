import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import { toHex } from "../primitives/hex.ts";
import { createKnownHashes } from "../primitives/knownHashes.ts";
import type { Agreed } from "./rlpx/capabilities.ts";
import type { Remote } from "./rlpx/connection.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { SubProtocol } from "./subProtocol.ts";

/** Tells the operator, once per peer, of an expected protocol of which the peer shares no version. */
export interface UnsharedProtocols {
  note(hello: Hello, agreed: readonly Agreed<SubProtocol>[], remote: Remote): void;
}

export function createUnsharedProtocols(
  protocols: readonly SubProtocol[],
  logger: Logger,
): UnsharedProtocols {
  const expected = new Set(protocols.filter(({ isExpected }) => isExpected).map(({ name }) => name));
  /** Peers and protocols that were logged. */
  const logged = createKnownHashes(MAX_LOGGED);

  return {
    note({ nodeId, clientId, capabilities }, agreed, remote) {
      for (const missing of expected) {
        if (agreed.some(({ protocol }) => protocol.name === missing)) continue;
        const key = `${missing} ${toKey(nodeId)}`;
        if (logged.has(key)) continue;
        logged.add(key);
        logger.info(
          {
            ...remote,
            nodeId: toHex(nodeId),
            client: clientId,
            offered: versionsOf(missing, capabilities),
            supported: versionsOf(missing, protocols),
          },
          `peer shares no version of ${missing} with this node`,
        );
      }
    },
  };
}

/** Most peers that are remembered. */
const MAX_LOGGED = 2_048;

/** Other names that a peer lists are not repeated: they may hold anything. */
function versionsOf(name: string, listed: Hello["capabilities"]): string {
  const versions = listed.filter((one) => one.name === name).map(({ version }) => version);
  return versions.length === 0 ? "none" : versions.join(", ");
}
