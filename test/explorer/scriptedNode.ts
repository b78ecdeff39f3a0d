import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, WebSocketRoute } from "playwright-core";
import { onTestFinished } from "vitest";
import { openPages } from "../../src/explorer/pages.ts";
import { openPage } from "./browser.ts";

/** A method's answer; what it throws is an error of JSON-RPC. */
export type Answering = (...params: readonly unknown[]) => unknown;

/** No answer, and the connection breaks. */
export const BREAK = Symbol("break");

/** The explorer's page before a node that answers what a test says, so that a test sees each call that the page makes. */
export interface ScriptedNode {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly url: string;
  /** What the page has asked for so far, in its order. */
  readonly calls: readonly Call[];
  /** Number of the newest block. */
  readonly head: number;
  answer(method: string, answering: Answering): void;
  /** Adds a block, and tells those who have subscribed. */
  addBlock(row?: Readonly<Record<string, unknown>>): void;
  /** How often a method was called, with this first parameter if one follows it. */
  readonly countOf: (call: string) => number;
}

const VALIDATOR = `0x${"a1".repeat(20)}`;

export async function openScriptedNode(
  script: Readonly<Record<string, Answering>> = {},
): Promise<ScriptedNode> {
  const { page, complaints } = await openPage();
  const url = await servePages();
  const calls: Call[] = [];
  const rows = [roundRow(0), roundRow(1), roundRow(2)];
  const subscribers = new Set<WebSocketRoute>();
  const answers = new Map(Object.entries({ ...quietAnswers(rows), ...script }));

  await page.routeWebSocket(/^ws:/, (socket) => {
    socket.onClose(() => void subscribers.delete(socket));
    socket.onMessage((text) => {
      const { id, method, params } = JSON.parse(String(text)) as Call & { readonly id: number };
      calls.push({ method, params });
      const reply = replyOf(answers.get(method), params);
      if (reply === BREAK) {
        subscribers.delete(socket);
        void socket.close();
      } else socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
      if (method === "eth_subscribe" && typeof reply === "object" && "result" in reply)
        subscribers.add(socket);
    });
  });

  return {
    page,
    complaints,
    url,
    calls,
    get head() {
      return rows.length - 1;
    },
    answer: (method, answering) => void answers.set(method, answering),
    addBlock(row = {}) {
      rows.push({ ...roundRow(rows.length), ...row });
      const text = JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params: {} });
      for (const subscriber of subscribers) subscriber.send(text);
    },
    countOf: (call) =>
      calls.filter(({ method, params: [first] }) => call === method || call === `${method} ${first}`).length,
  };
}

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Reply = { readonly result: unknown } | { readonly error: object } | typeof BREAK;

function replyOf(answering: Answering | undefined, params: readonly unknown[]): Reply {
  if (answering === undefined) return { error: { code: -32601, message: "Method not found" } };
  try {
    const result = answering(...params);
    return result === BREAK ? result : { result };
  } catch (error) {
    return { error: { code: -32005, message: error instanceof Error ? error.message : String(error) } };
  }
}

/** A chain of one validator without transactions. */
function quietAnswers(rows: readonly object[]): Readonly<Record<string, Answering>> {
  return {
    eth_subscribe: () => "0x1",
    eth_chainId: () => "0x539",
    web3_clientVersion: () => "ibex/scripted",
    eth_blockNumber: () => quantity(rows.length - 1),
    eth_getBlockTransactionCountByNumber: () => "0x0",
    ibft_getRounds: (newest, count) => {
      const last = Number(newest);
      return rows.slice(Math.max(0, last + 1 - Number(count)), last + 1).toReversed();
    },
    ibft_getValidatorsByBlockNumber: () => [VALIDATOR],
    net_peerCount: () => "0x0",
    txpool_status: () => ({ pending: "0x0", queued: "0x0" }),
  };
}

/** A row of ibft_getRounds. */
function roundRow(number: number): Readonly<Record<string, unknown>> {
  return {
    number: quantity(number),
    hash: `0x${number.toString(16).padStart(64, "0")}`,
    timestamp: quantity(1_700_000_000 + number),
    proposer: VALIDATOR,
    round: "0x0",
    validatorCount: "0x1",
    vote: null,
    gasUsed: "0x0",
    gasLimit: "0x1c9c380",
  };
}

/** Waits until the page has rendered what it knows, and run what follows that. */
export async function rendered(page: Page): Promise<void> {
  await page.evaluate(
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0))))",
  );
}

export function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}

/** The page without a node behind it. */
async function servePages(): Promise<string> {
  const pages = await openPages();
  const server = createServer((request, response) => {
    if (request.url === "/api/faucet") response.writeHead(204).end();
    else pages.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
