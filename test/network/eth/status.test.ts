import { expect, it } from "vitest";
import { ForkIds } from "../../../src/chainspec/forkId.ts";
import { encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import type { Status } from "../../../src/network/eth/messages.ts";
import { checkStatus, ownStatus } from "../../../src/network/eth/status.ts";
import { asHash } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { recordedChain } from "../../builders/recordedChain.ts";
import { describeWithVectors } from "../../vectors.ts";
import { decodeByCode } from "./decodeByCode.ts";
import { payloadOf, recordedEthMessages } from "./recordedTraffic.ts";

describeWithVectors("Status messages", () => {
  const chain = recordedChain("net2");
  const identity = {
    networkId: 7772n,
    forkIds: new ForkIds(chain.genesis.hash, { blocks: [], times: [] }),
  };
  const recorded = recordedEthMessages("net2").filter(({ name }) => name === "Status");

  it("are the recorded ones at the same head, byte for byte", () => {
    for (const message of recorded) {
      const read = decodeByCode(message.code, payloadOf(message));
      if (!read.ok || read.value.kind !== "status") throw new Error("a Status expected");
      expect(checkStatus(read.value.status, identity, chain).ok).toBe(true);
      chain.moveHead(Number(read.value.status.totalDifficulty) - 1);
      expect(toHex(encodeMessage({ kind: "status", status: ownStatus(identity, chain, 68) }))).toBe(
        message.data,
      );
    }
  });

  const ours = ownStatus(identity, chain, 68);
  const foreign = asHash(new Uint8Array(32).fill(7));
  const cases: readonly (readonly [what: string, change: Partial<Status>, code: string | undefined])[] = [
    ["another network", { networkId: 1n }, "otherNetwork"],
    ["unknown forks", { forkId: { checksum: 1, next: 0n } }, "otherForks"],
    ["another genesis", { genesisHash: foreign }, "otherGenesis"],
    ["all of it: the network comes first", { networkId: 1n, genesisHash: foreign }, "otherNetwork"],
    ["genesis before forks", { forkId: { checksum: 1, next: 0n }, genesisHash: foreign }, "otherGenesis"],
    ["another version, which is not compared", { protocolVersion: 66 }, undefined],
  ];
  it.each(cases)("%s", (_, change, code) => {
    const checked = checkStatus({ ...ours, ...change }, identity, chain);
    expect(checked.ok ? undefined : checked.error.code).toBe(code);
  });
});
