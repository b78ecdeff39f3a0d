import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { AdmissionErrorCause } from "./traffic.ts";

/** Warns the operator of two nodes with one key, this node's or a peer's: two validators with one key can split the chain. */
export interface SharedKeyWarnings {
  /**
   * A connection was refused: as one with ourselves, which proves that a node has our key, for this node never dials
   * itself; or as another one of a peer that is connected, which may be a second node with that peer's key. Warned of once
   * a minute, for such a node keeps connecting.
   */
  refused(cause: AdmissionErrorCause, refused: Called, known: readonly Called[]): void;
  /** A message arrived. After another connection of that peer was refused, it shows that both nodes run. */
  heard(connection: Called["connection"]): void;
  /** A peer has refused this node as one that is connected already. Warned of when it lasts. */
  refusedUs(): void;
  /** A configured peer has this node's id, but not its address. */
  configured(node: NodeAddress): void;
}

/** Called for each sign of two nodes with the key of this address. Without a proof it may be one node that has moved. */
export type OnSharedKey = (address: Address, sign: { readonly isProven: boolean }) => void;

/** A connection, and what its other end said of itself. */
export interface Called {
  readonly connection: Pick<Connection, "remote" | "isInbound">;
  readonly hello: Pick<Hello, "nodeId" | "listenPort">;
}

export function createSharedKeyWarnings(
  ownId: Uint8Array,
  clock: Pick<Clock, "nowMs">,
  logger: Logger,
  onSharedKey: OnSharedKey = () => undefined,
): SharedKeyWarnings {
  return new Warnings(ownId, clock, logger, onSharedKey);
}

class Warnings implements SharedKeyWarnings {
  private readonly ownId: Uint8Array;
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly logger: Logger;
  private readonly onSharedKey: OnSharedKey;
  /** By the id of the key, bounded because ids are free. */
  private readonly warnedMs = new Map<string, number>();
  /** The connections that stay, of peers of which another one was refused. */
  private readonly challenged = new Map<Called["connection"], Challenge>();
  /** When peers refused this node, first and last. */
  private refusals = { sinceMs: Number.NEGATIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };

  constructor(ownId: Uint8Array, clock: Pick<Clock, "nowMs">, logger: Logger, onSharedKey: OnSharedKey) {
    this.ownId = ownId;
    this.clock = clock;
    this.logger = logger;
    this.onSharedKey = onSharedKey;
  }

  refused(cause: AdmissionErrorCause, refused: Called, known: readonly Called[]): void {
    const [first] = known;
    if (cause === "self") this.warnOfOwnKey(refused);
    if (cause !== "connected" || !refused.connection.isInbound || first === undefined) return;
    const { sinceMs = this.clock.nowMs() } = this.challenged.get(first.connection) ?? {};
    this.challenged.set(first.connection, { sinceMs, first, second: refused });
    dropOldest(this.challenged, KEYS_REMEMBERED);
    // Two behind one address look like one that calls again, until both are heard.
    if (placeOf(first) !== placeOf(refused)) this.warnOfPeersKey(refused, first);
  }

  heard(connection: Called["connection"]): void {
    const challenge = this.challenged.get(connection);
    // What was on its way when the other one called proves nothing.
    if (challenge === undefined || this.clock.nowMs() - challenge.sinceMs < ON_ITS_WAY_MS) return;
    this.challenged.delete(connection);
    this.warnOfPeersKey(challenge.second, challenge.first);
    this.onSharedKey(addressOfPublicKey(challenge.first.hello.nodeId), { isProven: true });
  }

  refusedUs(): void {
    const nowMs = this.clock.nowMs();
    const { sinceMs, lastMs } = this.refusals;
    this.refusals = { sinceMs: nowMs - lastMs > REFUSALS_PAUSE_MS ? nowMs : sinceMs, lastMs: nowMs };
    if (nowMs - this.refusals.sinceMs < REFUSED_FOR_MS || !this.isDue(this.ownId)) return;
    const address = addressOfPublicKey(this.ownId);
    this.onSharedKey(address, { isProven: false });
    this.logger.error(
      { address },
      `TWO NODES RUN WITH THE KEY of this node (${toHex(address)}), as it seems: peers refuse this one, because a node with ` +
        "its key is connected with them (alreadyConnected). Two validators with one key can split the chain: stop one of the " +
        "two at once. If no other node has the key, this node's last run ended without a farewell, and peers notice that " +
        "within a minute",
    );
  }

  configured({ host, tcpPort }: NodeAddress): void {
    this.logger.warn(
      { host, port: tcpPort },
      "a configured peer has this node's own id, at an address that is not this one's: if another node runs " +
        "there, the two have one key, and two validators with one key can split the chain; give one of them a key of " +
        "its own (--node-private-key-file). If the address is this node's, say so with --p2p-host",
    );
  }

  private warnOfOwnKey({ connection, hello }: Called): void {
    this.onSharedKey(addressOfPublicKey(hello.nodeId), { isProven: true });
    if (!this.isDue(hello.nodeId)) return;
    this.logger.warn(
      { ...connection.remote },
      "another node has this node's key: two validators with one key can split the chain; " +
        "stop one of the two, and give it a key of its own (--node-private-key-file)",
    );
  }

  private warnOfPeersKey(second: Called, first: Called): void {
    if (!this.isDue(second.hello.nodeId)) return;
    const [one, other] = [placeOf(first), placeOf(second)];
    const address = addressOfPublicKey(second.hello.nodeId);
    this.logger.warn(
      { address, connected: one, refused: other },
      `two nodes run with the key of ${toHex(address)}: the one at ${one} is connected, the one at ${other} is refused. Two ` +
        "validators with one key can split the chain: stop one of the two, unless the node has just moved",
    );
  }

  private isDue(nodeId: Uint8Array): boolean {
    const key = toKey(nodeId);
    const nowMs = this.clock.nowMs();
    if (nowMs - (this.warnedMs.get(key) ?? Number.NEGATIVE_INFINITY) < WARNING_PAUSE_MS) return false;
    this.warnedMs.delete(key);
    this.warnedMs.set(key, nowMs);
    dropOldest(this.warnedMs, KEYS_REMEMBERED);
    return true;
  }
}

interface Challenge {
  readonly sinceMs: number;
  readonly first: Called;
  readonly second: Called;
}

/** Where a node listens. */
function placeOf({ connection: { remote, isInbound }, hello }: Called): string {
  return `${remote.host}:${isInbound ? hello.listenPort : remote.port}`;
}

const KEYS_REMEMBERED = 256;

const ON_ITS_WAY_MS = 1_000;

/** How long peers must refuse this node: they may need a moment to notice that its last run has ended. */
const REFUSED_FOR_MS = 2_000;
/** Without a refusal for so long, a new one is not of the same cause. */
const REFUSALS_PAUSE_MS = 30_000;

const WARNING_PAUSE_MS = 60_000;
