import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Endpoint } from "../primitives/endpoint.ts";
import { toHex } from "../primitives/hex.ts";
import { KnownHashes } from "../primitives/knownHashes.ts";
import type { Agreed } from "./rlpx/capabilities.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { SubProtocol } from "./subProtocol.ts";

/** Informs the operator, once per peer, about an expected protocol of which the peer shares no version. */
export class UnsharedProtocols {
  private readonly protocols: readonly SubProtocol[];
  private readonly logger: Logger;
  private readonly expected: Set<string>;
  /** Peers and protocols that were logged. */
  private readonly logged = new KnownHashes(MAX_LOGGED);

  constructor(protocols: readonly SubProtocol[], logger: Logger) {
    this.protocols = protocols;
    this.logger = logger;
    this.expected = new Set(protocols.filter(({ isExpected }) => isExpected).map(({ name }) => name));
  }

  note(
    { nodeId, clientId, capabilities }: Hello,
    agreed: readonly Agreed<SubProtocol>[],
    remote: Endpoint,
  ): void {
    for (const missing of this.expected) {
      if (agreed.some(({ protocol }) => protocol.name === missing)) continue;
      const key = `${missing} ${toKey(nodeId)}`;
      if (this.logged.has(key)) continue;
      this.logged.add(key);
      this.logger.info(
        {
          ...remote,
          nodeId: toHex(nodeId),
          client: clientId,
          offered: versionsOf(missing, capabilities),
          supported: versionsOf(missing, this.protocols),
        },
        `peer shares no version of ${missing} with this node`,
      );
    }
  }
}

/** Most peers that are remembered. */
const MAX_LOGGED = 2_048;

/** The versions that a peer lists. Other names that it lists are not repeated: they may contain anything. */
function versionsOf(name: string, listed: Hello["capabilities"]): string {
  const versions = listed.filter((one) => one.name === name).map(({ version }) => version);
  return versions.length === 0 ? "none" : versions.join(", ");
}
