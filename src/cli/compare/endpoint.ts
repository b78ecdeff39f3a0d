import { messageOf } from "../../primitives/errorMessage.ts";
import { withTimeLimit } from "../../primitives/timeLimit.ts";
import { AnswerTooLarge, readAnswerText } from "../answerText.ts";
import { memberOf } from "./differingPlaces.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import { numberOf } from "./parseAnswer.ts";

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A node's parsed answer, or why it could not be read. */
export type RpcAnswer =
  | { readonly kind: "answer"; readonly result: unknown; readonly error: unknown }
  | { readonly kind: "unread"; readonly reason: string };

/** A node was unreachable for so long that the work with it is given up. */
export class NodeUnreachable extends Error {
  override name = "NodeUnreachable";
}

/** A body is too large, too deep, or not JSON: a retry would not help. */
class UnreadableBody extends Error {}

interface EndpointParts {
  /** Size limit of one HTTP answer, uncompressed. A batch with a larger answer is split in halves. */
  readonly answerBytes: number;
  /** Parses the text of an answer; throws when it is not JSON or nested too deeply. */
  parse(text: string): unknown;
  /** How long a node may be away. */
  readonly giveUpAfterMs: number;
  readonly stop: AbortSignal;
  /** Resolves after `milliseconds`, or throws the reason of the stop. */
  sleep(milliseconds: number): Promise<void>;
  readonly nowMs: () => number;
  /** Called for each request that failed and will be sent again. */
  onAway(name: string, reason: string): void;
  onBack(name: string): void;
}

/** A node that is asked over JSON-RPC. Its answers are bounded in bytes and depth. */
export class Endpoint {
  private readonly parts: EndpointParts;
  private readonly target: URL;
  private readonly headers: Record<string, string> = { "content-type": "application/json" };
  /** The URL without user and password. */
  readonly name: string;

  constructor(url: URL, parts: EndpointParts) {
    this.parts = parts;
    this.target = new URL(url);
    this.target.username = "";
    this.target.password = "";
    if (url.username !== "") {
      const secret = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      this.headers["authorization"] = `Basic ${Buffer.from(secret).toString("base64")}`;
    }
    this.name = this.target.href.replace(/\/$/, "");
  }

  /** Answers to the requests, in their order. Throws NodeUnreachable, or the reason of the stop. */
  ask(requests: readonly RpcRequest[]): Promise<readonly RpcAnswer[]> {
    return askAll(requests, this.postWithin(this.parts.answerBytes));
  }

  /** Like `ask`, but in one HTTP answer of at most `answerBytes`; undefined when the answer is larger or unreadable. */
  askTogether(
    requests: readonly RpcRequest[],
    answerBytes: number,
  ): Promise<readonly RpcAnswer[] | undefined> {
    return postTogether(requests, this.postWithin(answerBytes)).catch(ifUnreadable);
  }

  private postWithin(answerBytes: number): Post {
    return async (body) =>
      parseBody(
        await postUntilAnswered(
          this.target,
          { headers: this.headers, body, answerBytes },
          this.name,
          this.parts,
        ),
        this.parts,
      );
  }
}

/** Throws UnreadableBody. */
type Post = (body: string) => Promise<unknown>;

function ifUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableBody)) throw error;
}

async function askAll(requests: readonly RpcRequest[], post: Post): Promise<readonly RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  for (let from = 0; from < requests.length; from += COMPARE_LIMITS.batchRequests)
    answers.push(...(await askBatch(requests.slice(from, from + COMPARE_LIMITS.batchRequests), post)));
  return answers;
}

/** Asks a batch. One that cannot be read as a whole is split in halves, so that one large answer does not hide the others. */
async function askBatch(requests: readonly RpcRequest[], post: Post): Promise<readonly RpcAnswer[]> {
  try {
    return await postTogether(requests, post);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    if (requests.length === 1) return [{ kind: "unread", reason: error.message }];
    const half = Math.ceil(requests.length / 2);
    return [
      ...(await askBatch(requests.slice(0, half), post)),
      ...(await askBatch(requests.slice(half), post)),
    ];
  }
}

/** Throws UnreadableBody. */
async function postTogether(requests: readonly RpcRequest[], post: Post): Promise<readonly RpcAnswer[]> {
  const bodies = requests.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const parsed = await post(JSON.stringify(bodies.length === 1 ? bodies[0] : bodies));
  const answers = bodies.length === 1 ? [parsed] : parsed;
  if (Array.isArray(answers)) return answersById(answers, requests.length);
  throw new UnreadableBody("a batch was not answered by a list");
}

function parseBody(text: string, { parse }: EndpointParts): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new UnreadableBody(`the answer is not JSON: ${messageOf(error)}`);
  }
}

function answersById(answers: readonly unknown[], count: number): readonly RpcAnswer[] {
  const byId = new Map(answers.map((each) => [idOf(each), each]));
  return Array.from({ length: count }, (_, id): RpcAnswer => {
    const answer = byId.get(id);
    const result = memberOf(answer, "result");
    const error = memberOf(answer, "error");
    if (result === undefined && error === undefined)
      return { kind: "unread", reason: "the answer has neither a result nor an error" };
    return { kind: "answer", result, error };
  });
}

/** The id of an answer. Parsers that keep numbers as they are written mark them. */
function idOf(answer: unknown): number | undefined {
  const id = memberOf(answer, "id");
  return typeof id === "number" ? id : numberOf(id);
}

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answerBytes: number;
}

async function postUntilAnswered(
  url: URL,
  message: Message,
  name: string,
  parts: EndpointParts,
): Promise<string> {
  const startMs = parts.nowMs();
  let backOffMs: number = COMPARE_LIMITS.firstBackOffMs;
  for (;;) {
    try {
      const text = await postOnce(url, message, parts);
      parts.onBack(name);
      return text;
    } catch (error) {
      parts.stop.throwIfAborted();
      if (error instanceof UnreadableBody || error instanceof NodeUnreachable) throw error;
      const reason = messageOf(error);
      parts.onAway(name, reason);
      if (parts.nowMs() - startMs + backOffMs > parts.giveUpAfterMs)
        throw new NodeUnreachable(`${name} does not answer: ${reason}`);
      await parts.sleep(backOffMs);
      backOffMs = Math.min(2 * backOffMs, COMPARE_LIMITS.lastBackOffMs);
    }
  }
}

/** Statuses that a retry does not change. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 405]);

function postOnce(
  url: URL,
  { headers, body, answerBytes }: Message,
  { stop }: EndpointParts,
): Promise<string> {
  return withTimeLimit(COMPARE_LIMITS.requestTimeoutMs, stop, async (signal) => {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal }).catch(
      (error: unknown) => {
        // The cause of fetch's error has the reason, such as a refused connection.
        throw error instanceof Error && error.cause !== undefined ? error.cause : error;
      },
    );
    const text = await readAnswerText(response, answerBytes).catch((error: unknown) => {
      throw error instanceof AnswerTooLarge ? new UnreadableBody(error.message) : error;
    });
    if (REFUSALS.has(response.status))
      throw new NodeUnreachable(`${url.host} refuses the request with HTTP status ${response.status}`);
    if (response.status >= 500 || response.status === 429)
      throw new Error(`it answers with HTTP status ${response.status}`);
    return text;
  });
}
