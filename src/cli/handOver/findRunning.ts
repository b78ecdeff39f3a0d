import { connect } from "node:net";
import { ByteQueue } from "../../network/rlpx/byteQueue.ts";
import { initiateExchange } from "../../network/rlpx/keyExchange.ts";
import { type NodeKey, newPrivateKey, nodeKey } from "../../node/keys/nodeKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { fetchHead } from "../validatorHeads.ts";
import { ANSWER_WITHIN_MS } from "./limits.ts";
import { type Place, showPlace } from "./place.ts";

/** An answer at a place. */
interface Answering {
  readonly reason: string;
  /** False when something listens there with an unknown key. */
  readonly isProven: boolean;
}

/** Where a node with that key runs, or may run; empty when nothing answers, or only nodes with other keys. */
export async function findRunning(key: NodeKey, places: readonly Place[]): Promise<readonly Answering[]> {
  const answers = await Promise.all(
    places.map((place) => (place.kind === "rpc" ? askRpc(key, place.url) : callPeer(key, place))),
  );
  return answers.filter((answer) => answer !== undefined);
}

/** Asks over JSON-RPC. A node that answers with another address is a different node. */
async function askRpc(key: NodeKey, url: string): Promise<Answering | undefined> {
  const head = await fetchHead(url);
  if (!head.ok || !equalBytes(head.value.validator, key.address)) return undefined;
  const { number } = head.value;
  return { reason: `${url}: a node with this validator's key answers, at block ${number}`, isProven: true };
}

/**
 * Connects as a peer. Only the holder of the key can answer the first packet of a connection (p2p.md#rlpx-handshake). A
 * listener that does not answer it may still be that node, with too many connections.
 */
function callPeer(key: NodeKey, place: Place & { readonly kind: "peer" }): Promise<Answering | undefined> {
  const own = nodeKey(newPrivateKey());
  const exchange = initiateExchange({ privateKey: own.privateKey, nodeId: own.publicKey }, key.publicKey);
  const queue = new ByteQueue();
  let isOpen = false;
  return new Promise((resolve) => {
    const { host, port } = place;
    const socket = connect({ host, port });
    const end = (answer: Answering | undefined): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(answer);
    };
    const unknown = (): void =>
      end(
        isOpen
          ? {
              reason: `${showPlace(place)}: something listens there, and does not say which key it has`,
              isProven: false,
            }
          : undefined,
      );
    const deadline = setTimeout(unknown, ANSWER_WITHIN_MS);
    socket.once("connect", () => {
      isOpen = true;
      const auth = exchange.start();
      if (auth.ok && auth.value !== undefined) socket.write(auth.value);
    });
    socket.on("data", (chunk) => {
      queue.append(chunk);
      const keys = exchange.read(queue);
      if (!keys.ok) unknown();
      else if (keys.value !== undefined)
        end({ reason: `${showPlace(place)}: a node with this validator's key answers`, isProven: true });
    });
    socket.once("error", unknown);
    socket.once("close", unknown);
  });
}
