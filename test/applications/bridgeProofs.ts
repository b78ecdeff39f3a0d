import type { Hex, PrivateKeyAccount, TransactionReceipt } from "viem";
import { type Call, type ChainClient, type Contract, call, eventIn, read } from "./chainClient.ts";

/** A passage of Bridge.sol: what validators sign. */
export interface Passage {
  readonly sourceChain: bigint;
  readonly sourceBridge: Hex;
  readonly nonce: bigint;
  readonly sourceToken: Hex;
  readonly token: Hex;
  readonly recipient: Hex;
  readonly amount: bigint;
}

const TYPES = {
  Passage: [
    { name: "sourceChain", type: "uint256" },
    { name: "sourceBridge", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "sourceToken", type: "address" },
    { name: "token", type: "address" },
    { name: "recipient", type: "address" },
    { name: "amount", type: "uint256" },
  ],
} as const;

/** An end of the bridge. */
export interface BridgeEnd {
  readonly client: ChainClient;
  readonly bridge: Contract;
}

/** The passage that a receipt at `source` announces, as it is delivered at the other end. */
export async function passageIn(receipt: TransactionReceipt, source: BridgeEnd): Promise<Passage> {
  const sent = eventIn(receipt, source.bridge, "Sent") as unknown as {
    readonly nonce: bigint;
    readonly token: Hex;
    readonly recipient: Hex;
    readonly amount: bigint;
  };
  const [counterpart] = await read<readonly [Hex]>(source.client, call(source.bridge, "pairs", sent.token));
  return {
    sourceChain: BigInt(source.client.chain.id),
    sourceBridge: source.bridge.address,
    nonce: sent.nonce,
    sourceToken: sent.token,
    token: counterpart,
    recipient: sent.recipient,
    amount: sent.amount,
  };
}

/** Signatures of the passage for delivery at `destination`, in ascending order of signers as the contract wants them. */
export async function prove(
  passage: Passage,
  destination: BridgeEnd,
  signers: readonly PrivateKeyAccount[],
): Promise<readonly Hex[]> {
  const sorted = [...signers].sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
  return Promise.all(sorted.map((signer) => sign(passage, destination, signer)));
}

export function sign(
  passage: Passage,
  { client, bridge }: BridgeEnd,
  signer: PrivateKeyAccount,
): Promise<Hex> {
  return signer.signTypedData({
    domain: { name: "Bridge", version: "1", chainId: client.chain.id, verifyingContract: bridge.address },
    types: TYPES,
    primaryType: "Passage",
    message: passage,
  });
}

export function delivery(destination: BridgeEnd, passage: Passage, signatures: readonly Hex[]): Call {
  return call(destination.bridge, "deliver", passage, signatures);
}
