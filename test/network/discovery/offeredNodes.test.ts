import { expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { createDatagramNetwork } from "./datagramNetwork.ts";

it("a node that a list names is dialled once it has proved its endpoint", async () => {
  const network = createDatagramNetwork(1);
  const [one, other] = [network.addNode(), network.addNode()];
  const silent = network.addOutsider();
  for (const node of [other.contact, silent.contact, { ...silent.contact, ip: "0.0.0.0" }, one.contact])
    one.discovery.offer(node);
  await network.run(5_000);
  expect([...one.dialled]).toEqual([toHex(other.contact.nodeId)]);
  one.stop();
  one.discovery.offer({ ...silent.contact, ip: "10.9.9.9" });
  await network.run(1_000);
  expect(network.sentTo("10.9.9.9").datagrams).toBe(0);
});
