import { gunzipSync } from "node:zlib";
import { hexToBytes } from "../../../src/primitives/hex.ts";
import { readVectorBytes, readVectorJson } from "../../vectors.ts";

/** One message of eth as the vectors' README describes it. */
export interface RecordedEth {
  readonly from: string;
  readonly to: string;
  readonly name: string;
  readonly code: number;
  readonly decoded: Readonly<Record<string, unknown>>;
  readonly data: string;
}

export interface RecordedPair {
  readonly request: RecordedEth;
  readonly response: RecordedEth;
}

export type RecordedNetwork = "net1" | "net2";

/** Status, blocks and transactions, which have no response. */
export function recordedEthMessages(network: RecordedNetwork): readonly RecordedEth[] {
  return readVectorJson("besu-ibft", network, "wire", "eth-messages.json");
}

/** Requests with their responses; of net2 both full syncs too. */
export function recordedPairs(network: RecordedNetwork): readonly RecordedPair[] {
  const pairs = readVectorJson<RecordedPair[]>("besu-ibft", network, "wire", "eth-pairs.json");
  return network === "net1" ? pairs : [...pairs, ...recordedSync()];
}

function recordedSync(): readonly RecordedPair[] {
  const packed = readVectorBytes("besu-ibft", "net2", "wire", "eth-sync.json.gz");
  return JSON.parse(gunzipSync(packed).toString("utf8")) as RecordedPair[];
}

/** All recorded messages. */
export function recordedTraffic(network: RecordedNetwork): readonly RecordedEth[] {
  return [
    ...recordedEthMessages(network),
    ...recordedPairs(network).flatMap(({ request, response }) => [request, response]),
  ];
}

export function payloadOf({ data }: RecordedEth): Uint8Array {
  return hexToBytes(data);
}
