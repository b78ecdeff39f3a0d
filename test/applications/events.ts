import { type Hex, type Log, parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { type BridgeEnd, delivery, passageIn, prove } from "./bridgeProofs.ts";
import { call, createActor, read } from "./chainClient.ts";
import { accountNamed, BRIDGE_THRESHOLD, type Deployment, NATIVE } from "./deployment.ts";

/** How applications hear of each other: log queries and subscriptions, at another validator than the one written to. */
export function eventTests(deployment: () => Deployment): void {
  /** What identifies a log, and all that it says. */
  const shown = ({ address, topics, data, blockHash, transactionHash, logIndex }: Log) => ({
    ...{ address, topics, data, blockHash, transactionHash, logIndex },
  });
  const inOrder = (logs: readonly Log[]) =>
    [...logs]
      .sort(
        (a, b) =>
          Number((a.blockNumber ?? 0n) - (b.blockNumber ?? 0n)) || (a.logIndex ?? 0) - (b.logIndex ?? 0),
      )
      .map(shown);

  describe("events", () => {
    it("are found later as receipts had them, by contract, by event and by argument", async () => {
      const { home, contracts, actors } = deployment();
      const { watcher, usage } = home;
      const all = { fromBlock: 0n, toBlock: "latest" } as const;
      for (const { address, abi } of Object.values(contracts)) {
        const own = usage.logs().filter((log) => log.address.toLowerCase() === address.toLowerCase());
        expect(inOrder(await watcher.getLogs({ address, ...all }))).toEqual(inOrder(own));
        const names = new Set(abi.flatMap((item) => (item.type === "event" ? [item.name] : [])));
        const byName = await Promise.all(
          [...names].map((eventName) => watcher.getContractEvents({ address, abi, eventName, ...all })),
        );
        expect(inOrder(byName.flat())).toEqual(inOrder(own));
      }
      const bySender = await watcher.getContractEvents({
        ...contracts.bridge,
        eventName: "Sent",
        args: { sender: actors.bridger.address },
        ...all,
      });
      expect(bySender.length).toBeGreaterThan(0);
      const byNobody = {
        ...contracts.bridge,
        eventName: "Sent",
        args: { sender: actors.holder.address },
        ...all,
      };
      expect(await watcher.getContractEvents(byNobody)).toEqual([]);
    });

    it("reach a relayer by subscription, which brings each passage to the other end once", async () => {
      const { home, base, contracts, baseContracts, actors, bridgeValidators } = deployment();
      const source: BridgeEnd = { client: home, bridge: contracts.bridge };
      const destination: BridgeEnd = { client: base, bridge: baseContracts.bridge };
      const relayer = home === base ? actors.relayer : await createActor(base, accountNamed("relayer"));
      const recipient = accountNamed("recipient of project tokens").address;
      const amounts = [parseEther("0.1"), parseEther("0.2"), parseEther("0.3")];
      const brought: Hex[] = [];
      const failures: unknown[] = [];
      const bring = async (transactionHash: Hex) => {
        const receipt = await home.watcher.getTransactionReceipt({ hash: transactionHash });
        const passage = await passageIn(receipt, source);
        const proof = await prove(passage, destination, bridgeValidators.slice(0, BRIDGE_THRESHOLD));
        await relayer.send(delivery(destination, passage, proof));
        brought.push(transactionHash);
      };
      const stop = home.watcher.watchContractEvent({
        ...contracts.bridge,
        eventName: "Sent",
        args: { sender: actors.bridger.address },
        onLogs: (logs) => {
          for (const { transactionHash } of logs)
            if (transactionHash !== null) bring(transactionHash).catch((error) => failures.push(error));
        },
      });
      // The subscription is asked for on the same connection before.
      await home.watcher.getBlockNumber();
      const sends = amounts.map((amount) => ({
        ...call(contracts.bridge, "send", NATIVE, amount, recipient),
        value: amount,
      }));
      const receipts = await actors.bridger.sendAll(sends);
      await expect.poll(() => [failures, brought.length]).toEqual([[], amounts.length]);
      stop();
      expect([...brought].sort()).toEqual(receipts.map(({ transactionHash }) => transactionHash).sort());
      const passed = amounts.reduce((sum, amount) => sum + amount - amount / 200n, 0n);
      expect(await read(base, call(baseContracts.project, "balanceOf", recipient))).toBe(passed);
    });
  });
}
