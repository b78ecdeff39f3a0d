import type { Logger } from "../observability/logger.ts";
import type { BanList } from "./banList.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { SharedKeyWarnings } from "./sharedKey.ts";
import type { UnreachablePeers } from "./unreachablePeers.ts";

/** Reports how a connection has ended to the ban list, and to what informs the operator. */
export class ConnectionEnds {
  private readonly parts: ConnectionEndsParts;

  constructor(parts: ConnectionEndsParts) {
    this.parts = parts;
  }

  /** Notes the end of any connection, even one that never opened. */
  note(connection: Connection, disconnect: Disconnect): void {
    const { banList, logger } = this.parts;
    const { remote, dialedId, provenId, isInbound } = connection;
    banList.remember(disconnect, { nodeId: provenId, host: remote.host });
    const nodeId = provenId ?? dialedId;
    logger.often("debug", "connection ended", () => ({ ...disconnect, ...remote, isInbound, nodeId }));
  }

  /**
   * Notes the end of a connection that was the node's only one, or would have been. The Hello is absent when it never
   * opened.
   */
  noteAway({ dialedId, provenId }: Connection, disconnect: Disconnect, hello: Hello | undefined): void {
    const { unreachablePeers, sharedKeyWarnings } = this.parts;
    const nodeId = dialedId ?? provenId;
    if (nodeId === undefined) return;
    unreachablePeers.disconnected(nodeId, disconnect, provenId !== undefined);
    if (hello !== undefined && disconnect.by !== "them") sharedKeyWarnings.lost(nodeId);
    const isRefusal = disconnect.by === "them" && disconnect.reason === "alreadyConnected";
    if (isRefusal && dialedId !== undefined)
      sharedKeyWarnings.refusedUs({ nodeId, clientId: hello?.clientId });
  }
}

export interface ConnectionEndsParts {
  readonly banList: BanList;
  readonly unreachablePeers: UnreachablePeers;
  readonly sharedKeyWarnings: SharedKeyWarnings;
  readonly logger: Logger;
}
