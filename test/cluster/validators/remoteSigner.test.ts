import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { type SignerProcess, startSignerProcess } from "../../signer/signerProcess.ts";
import { itIfThorough } from "../../thorough.ts";
import { type AgreedBlock, agreedBlocks, hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  logOf,
  type NodeProcess,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

async function aSigner({ key }: Member): Promise<SignerProcess> {
  const signer = await startSignerProcess(key.privateKey);
  onTestFinished(() => signer.kill());
  return signer;
}

const optionsFor = ({ key }: Member, { url }: SignerProcess): readonly string[] => [
  `--validator-signer-url=${url}`,
  `--validator-signer-public-key=${toHex(curve.publicKey(key.privateKey))}`,
];

/** Replaces the static nodes of a member that is down. */
function knows(member: Member, others: readonly Member[]): void {
  const enodes = others.map(
    ({ nodeKey, peerPort }) =>
      `enode://${toHex(curve.publicKey(nodeKey.privateKey)).slice(2)}@127.0.0.1:${peerPort}?discport=0`,
  );
  writeFileSync(join(member.dataPath, "static-nodes.json"), JSON.stringify(enodes));
}

/** The first block after `from` of that kind, as another node has it. */
function blockAfter(
  node: NodeProcess,
  from: number,
  isWanted: (block: AgreedBlock) => boolean,
  what: string,
): Promise<AgreedBlock> {
  return until(async () => {
    const height = await heightOf(node);
    return height > from ? (await agreedBlocks(node, from + 1, height)).find(isWanted) : undefined;
  }, what);
}

const saysOf = (node: NodeProcess, words: string) =>
  logOf(node).filter(({ message }) => message.includes(words));

describe("a validator with a remote signer", () => {
  itIfThorough(
    "and another node key proposes and seals; without its signer the others go on, and it says so",
    async () => {
      const network = await prepareNetwork({ validators: 4, withOtherNodeKey: 1 });
      onTestFinished(network.stopAll);
      const [first, second, ...others] = network.members;
      if (first === undefined || second === undefined) throw new Error();
      const signer = await aSigner(first);
      const [node, observed] = await Promise.all([
        network.start(first, [], optionsFor(first, signer)),
        ...[second, ...others].map((member) => network.start(member)),
      ]);
      if (node === undefined || observed === undefined) throw new Error();
      const address = toHex(first.key.address);
      expect(await node.rpc("eth_coinbase")).toBe(address);
      expect(saysOf(node, "this node's key is not its validator's")).toMatchObject([
        { level: "WARN", node: toHex(first.nodeKey.address), validator: address },
      ]);
      const isItsOwn = ({ proposer }: AgreedBlock): boolean => proposer === address;
      const isSealed = ({ sealers, proposer }: AgreedBlock): boolean =>
        sealers.includes(address) && proposer !== address;
      await blockAfter(observed, 0, isItsOwn, "a block of the validator");
      // It hears the others' proposals, though they know its node by another key.
      await blockAfter(observed, 0, isSealed, "its seal on another's block");

      await signer.kill();
      const lost = await heightOf(node);
      await reach([node, observed], lost + 6);
      const alone = await agreedBlocks(observed, lost + 2, lost + 6);
      expect(alone.filter(({ sealers }) => sealers.includes(address))).toEqual([]);
      expect(saysOf(node, "the remote signer does not sign")).toContainEqual(
        expect.objectContaining({
          level: "WARN",
          url: `${signer.url}/`,
          reason: expect.stringContaining("ECONNREFUSED"),
        }),
      );
      const status = runProgram([`--data-path=${node.dataPath}`, "status"]);
      expect(await status.exit).toBe(1);
      expect(status.output()).toMatch(/^Signer .*FAILING: .*ECONNREFUSED/m);
      expect(status.output()).toContain(
        `Problem: The remote signer ${signer.url}/ has given no signature for`,
      );

      await signer.restart();
      const back = await heightOf(observed);
      await blockAfter(observed, back, isSealed, "its seal after the signer's return");
      await blockAfter(observed, back, isItsOwn, "a block of its own after the signer's return");
      expect(saysOf(node, "the remote signer is signing again").length).toBeGreaterThan(0);
      expect((await signer.figures()).mostAtOnce).toBeLessThanOrEqual(6);
    },
  );

  itIfThorough("does not start when the signer lacks the key, and says which", async () => {
    const network = await prepareNetwork({ validators: 2 });
    const [first, second] = network.members;
    if (first === undefined || second === undefined) throw new Error();
    const signer = await aSigner(first);
    const program = runProgram([
      `--data-path=${temporaryFolder()}`,
      `--genesis-file=${network.genesisFile}`,
      ...optionsFor(second, signer),
    ]);
    expect(await program.exit).toBe(2);
    expect(program.output()).toContain(
      `The remote signer ${signer.url}/ cannot be used: it does not hold the key`,
    );
    expect(program.output()).toContain(`(of validator ${toHex(second.key.address)})`);
    // The doctor says the same of the stopped node.
    const doctor = runProgram([
      `--data-path=${second.dataPath}`,
      `--genesis-file=${network.genesisFile}`,
      ...optionsFor(second, signer),
      "doctor",
    ]);
    expect(await doctor.exit).not.toBe(0);
    expect(doctor.output()).toContain(
      `Problem: The remote signer ${signer.url}/ cannot be used: it does not hold`,
    );
  });

  itIfThorough("goes on among three others with remote signers and node keys of their own", async () => {
    const network = await prepareNetwork({ validators: 4, withOtherNodeKey: 4, requestTimeoutSeconds: 1 });
    onTestFinished(network.stopAll);
    const signers = await Promise.all(network.members.map(aSigner));
    const started = network.members.map((member, index) => {
      const signer = signers[index];
      if (signer === undefined) throw new Error();
      return network.start(member, [], optionsFor(member, signer));
    });
    const nodes = await Promise.all(started);
    await reach(nodes, 12);
    const [observed] = nodes;
    if (observed === undefined) throw new Error();
    const sealers = (await agreedBlocks(observed, 1, 12)).flatMap((block) => block.sealers);
    expect(new Set(sealers).size).toBe(4);
  });

  itIfThorough("that is killed while the signer hangs votes once, when both are back", async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 1 });
    onTestFinished(network.stopAll);
    const [first, second, ...others] = network.members;
    if (first === undefined || second === undefined) throw new Error();
    const signer = await aSigner(first);
    const options = optionsFor(first, signer);
    const [node, observed] = await Promise.all([
      network.start(first, [], options),
      ...[second, ...others].map((member) => network.start(member)),
    ]);
    if (node === undefined || observed === undefined) throw new Error();
    await reach([node, observed], 4);
    for (let kill = 0; kill < 2; kill++) {
      await signer.setMode({ kind: "hang" });
      await reach([observed], (await heightOf(observed)) + 2);
      await first.node?.kill();
      await signer.setMode({ kind: "sign" });
      const from = await heightOf(observed);
      await network.start(first, [], options);
      const address = toHex(first.key.address);
      await blockAfter(observed, from, ({ sealers }) => sealers.includes(address), "its seal");
    }
    expect(observed.output()).not.toContain("has signed two different blocks");
  });

  itIfThorough(
    "and another node key is heard, and hears, through one other validator, if that relays",
    async () => {
      const network = await prepareNetwork({ validators: 4, withOtherNodeKey: 1, requestTimeoutSeconds: 1 });
      onTestFinished(network.stopAll);
      const [first, second, third, fourth] = network.members;
      if (first === undefined || second === undefined || third === undefined || fourth === undefined)
        throw new Error();
      const signer = await aSigner(first);
      knows(first, [second]);
      for (const member of [third, fourth]) knows(member, [second, third, fourth]);
      const nodes = await Promise.all([
        network.start(first, [], optionsFor(first, signer)),
        ...[second, third, fourth].map((member) => network.start(member)),
      ]);
      const [node, , observed] = nodes;
      if (node === undefined || observed === undefined) throw new Error();
      const address = toHex(first.key.address);
      await reach(nodes, 3);
      await expect.poll(() => node.rpc("net_peerCount")).toBe("0x1");
      // Of four that are three, it is needed for each block, and so are its relayed words.
      await fourth.node?.kill();
      const from = await heightOf(observed);
      await reach([node, observed], from + 6);
      const needed = await agreedBlocks(observed, from + 2, from + 6);
      expect(needed.every(({ sealers }) => sealers.includes(address))).toBe(true);
    },
  );

  itIfThorough(
    "whose key a second node uses as well: one of the two falls silent and says so, and the chain stays one",
    async () => {
      const network = await prepareNetwork({ validators: 4, withOtherNodeKey: 1, requestTimeoutSeconds: 1 });
      onTestFinished(network.stopAll);
      const [first, second, ...others] = network.members;
      if (first === undefined || second === undefined) throw new Error();
      const signer = await aSigner(first);
      const options = optionsFor(first, signer);
      const [node, observed] = await Promise.all([
        network.start(first, [], options),
        ...[second, ...others].map((member) => network.start(member)),
      ]);
      if (node === undefined || observed === undefined) throw new Error();
      await reach([node, observed], 4);
      const dataPath = join(temporaryFolder(), "other");
      mkdirSync(dataPath);
      const nodeKey = accountFromSeed(2_000);
      writeFileSync(join(dataPath, "key"), toHex(nodeKey.privateKey), { mode: 0o600 });
      cpSync(join(first.dataPath, "static-nodes.json"), join(dataPath, "static-nodes.json"));
      const copy: Member = { ...first, nodeKey, dataPath, peerPort: await freePort(), node: undefined };
      const other = await network.start(copy, [], options);
      onTestFinished(() => other.kill());
      const said = await until(
        async () => [node, other].flatMap((each) => saysOf(each, "TWO NODES RUN WITH THE KEY"))[0],
        "a word about the other node",
      );
      expect(said).toMatchObject({ level: "ERROR", reason: "ownKey" });
      const height = (await heightOf(observed)) + 5;
      await reach([node, other, observed], height);
      const all = await Promise.all([node, other, observed].map((each) => hashesOf(each, 1, height)));
      expect(all[0]).toEqual(all[2]);
      expect(all[1]).toEqual(all[2]);
    },
  );
});
