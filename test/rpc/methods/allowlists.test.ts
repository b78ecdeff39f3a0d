import { expect, it } from "vitest";
import { ok } from "../../../src/primitives/result.ts";
import { aChainSpec } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { requesterOf } from "../requester.ts";

it("a list is changed by a thousand entries at a time, and no more", async () => {
  const changed: number[] = [];
  const note = (texts: readonly string[]) => {
    changed.push(texts.length);
    return ok(undefined);
  };
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const ask = requesterOf({
    chain,
    spec: aChainSpec(chain, { chainId: 1n, fork: "london" }),
    permissions: {
      accounts: { items: [], add: note, remove: note },
      nodes: undefined,
      reload: () => ok(undefined),
    },
  });
  const entries = (count: number) => Array.from({ length: count }, (_, index) => `0x${index}`);
  for (const method of ["perm_addAccountsToAllowlist", "perm_removeAccountsFromWhitelist"]) {
    expect(await ask(method, entries(1000))).toBe("Success");
    expect(await ask(method, entries(1001))).toMatchObject({ code: -32005 });
  }
  expect(changed).toEqual([1000, 1000]);
});
