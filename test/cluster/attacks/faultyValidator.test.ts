import { describe, expect, onTestFinished } from "vitest";
import { asHash } from "../../../src/primitives/hash.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import type { Identity } from "../../network/identities.ts";
import { itIfThorough } from "../../thorough.ts";
import { ATTACKS_BY_VALIDATOR } from "../harness/attacks.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import type { AttackContext } from "../harness/hostileMessages.ts";
import { liveMemoryOf, MEASURABLE } from "../harness/liveMemory.ts";
import type { NodeProcess } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { prepareNetwork } from "../harness/validatorNetwork.ts";

const ATTACK_MS = 8_000;
const FIRST_ATTACK_MS = 3_000;

const identityOf = (privateKey: Uint8Array): Identity => ({
  privateKey,
  nodeId: curve.publicKey(privateKey),
});

describe("three validators decide on, and memory keeps its size, while the fourth one sends", () => {
  itIfThorough(Object.keys(ATTACKS_BY_VALIDATOR).join(", then "), async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 1, ...MEASURABLE });
    onTestFinished(network.stopAll);
    const [attacked, ...others] = network.members;
    const faulty = others.pop();
    if (attacked === undefined || faulty === undefined) throw new Error("there are four validators");
    const nodes = await Promise.all([attacked, ...others].map((member) => network.start(member)));
    const [node] = nodes as [NodeProcess, ...NodeProcess[]];
    await reach(nodes, 3);
    const targetKey = identityOf(attacked.key.privateKey);
    const context: AttackContext = {
      targetKey,
      target: { nodeId: targetKey.nodeId, host: "127.0.0.1", tcpPort: attacked.peerPort },
      validatorKey: identityOf(faulty.key.privateKey),
      headNumber: () => heightOf(node),
      largeBlock: asHash(new Uint8Array(32)),
    };
    // What the node loads and compiles for each of them is no growth.
    for (const attack of Object.values(ATTACKS_BY_VALIDATOR)) {
      const endMs = Date.now() + FIRST_ATTACK_MS;
      await attack(context, () => Date.now() > endMs);
    }
    const before = await liveMemoryOf(node);
    for (const [name, attack] of Object.entries(ATTACKS_BY_VALIDATOR)) {
      const first = await heightOf(node);
      const own = new OwnTime(...nodes);
      const endMs = Date.now() + ATTACK_MS;
      await attack(context, () => Date.now() > endMs);
      // One turn of four is the faulty validator's, and costs a round of one second: four blocks come in five.
      const least = own.leastBlocks(1250);
      expect((await heightOf(node)) - first, name).toBeGreaterThanOrEqual(least);
    }
    const after = await liveMemoryOf(node);
    expect(after.heapMb - before.heapMb).toBeLessThan(16);
    await reach(nodes, (await heightOf(node)) + 2);
  });
});
