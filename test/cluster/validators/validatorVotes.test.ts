import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DEV_VALIDATOR_ADDRESS, DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import { type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { decodeExtraData } from "../../../src/types/extraData.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";

interface Status {
  readonly mode: string;
  readonly isValidator: boolean;
  readonly quorum: Hex;
  readonly missing: readonly Hex[] | null;
  readonly lastBlock: { readonly number: Hex };
}

const SELF = toHex(DEV_VALIDATOR_ADDRESS);
const OTHER_KEY = hexToBytes("22".repeat(32));
const NEW_VALIDATOR = `0x${"be".repeat(20)}`;

/** A node of a network of its own, with rounds of 2 s. */
function aNode(key: Uint8Array): Promise<NodeProcess> {
  const dataPath = temporaryFolder();
  const genesisFile = join(dataPath, "genesis.json");
  const ibft2 = { blockperiodseconds: 1, epochlength: 30_000, requesttimeoutseconds: 2 };
  writeFileSync(genesisFile, genesisWith({ ibft2 }));
  writeFileSync(join(dataPath, "key"), toHex(key), { mode: 0o600 });
  return startNodeProcess({
    dataPath,
    options: [
      `--genesis-file=${genesisFile}`,
      "--p2p-port=0",
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,IBFT",
    ],
  });
}

async function extraDataOf(node: NodeProcess, number: Hex) {
  const { extraData } = await node.rpc<{ extraData: Hex }>("eth_getBlockByNumber", [number, false]);
  const extra = decodeExtraData(hexToBytes(extraData));
  if (!extra.ok) throw new Error(extra.error.message);
  return extra.value;
}

itIfThorough(
  "casts the requested vote, and logs the missing validator when it has no quorum alone",
  async () => {
    const node = await aNode(DEV_VALIDATOR_KEY);
    await until(
      async () => (Number(await node.rpc<Hex>("eth_blockNumber")) > 0 ? true : undefined),
      "a block",
    );
    expect(await node.rpc("ibft_proposeValidatorVote", [NEW_VALIDATOR, true])).toBe(true);
    const status = await until(async () => {
      const now = await node.rpc<Status>("ibft_status");
      return now.missing?.length === 1 && node.output().includes("no block for") ? now : undefined;
    }, "the warning of a missing validator");
    const last = status.lastBlock.number;
    expect(status).toMatchObject({
      mode: "validating",
      isValidator: true,
      quorum: "0x2",
      missing: [NEW_VALIDATOR],
    });
    expect((await extraDataOf(node, last)).vote).toEqual({
      recipient: hexToBytes(NEW_VALIDATOR),
      kind: "add",
    });
    expect(await node.rpc("ibft_getValidatorsByBlockNumber", ["latest"])).toEqual([SELF]);
    expect(await node.rpc("ibft_getPendingVotes")).toEqual({ [NEW_VALIDATOR]: true });
    expect(await node.rpc("ibft_discardValidatorVote", [NEW_VALIDATOR])).toBe(true);
    expect(await node.rpc("ibft_getPendingVotes")).toEqual({});
    expect(node.output()).toMatch(
      new RegExp(
        `no block for \\d+ s at height ${Number(last) + 1}: 1 of 2 validators heard, quorum 2; ` +
          `waiting for ${NEW_VALIDATOR} \\(never heard since the start, not connected\\)`,
      ),
    );
    expect(await node.rpc("eth_blockNumber")).toBe(last);
    expect(await node.stop()).toBe(0);
  },
);

it("only follows when its key is not a validator's, and reports it", async () => {
  const node = await aNode(OTHER_KEY);
  const started = async () => {
    const status = await node.rpc<{ mode: string }>("ibft_status");
    return status.mode === "notStarted" ? undefined : status;
  };
  expect(await until(started, "a start")).toMatchObject({
    mode: "following",
    isValidator: false,
    height: "0x1",
    round: null,
    quorum: "0x1",
    missing: null,
    validators: [{ address: SELF, isSelf: false, isHeard: null, lastHeard: null }],
  });
  expect(await node.rpc("eth_mining")).toBe(false);
  expect(await node.stop()).toBe(0);
});
