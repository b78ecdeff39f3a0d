import { type JsonPiece, roughLengthOf } from "../../primitives/jsonPieces.ts";
import type { Requester } from "../../primitives/requester.ts";
import { inSteps } from "../../primitives/steps.ts";
import { prettySlices } from "../results/prettyJson.ts";
import { CallerPacer, type CallerTime } from "../server/callerTime.ts";
import { COMPLEXITY_LIMIT, complexityOf } from "./complexity.ts";
import { Budget } from "./execution/budget.ts";
import { execute } from "./execution/execute.ts";
import { planOf } from "./execution/plan.ts";
import { aborted, FieldError, type GraphQlError, Refusal } from "./graphQlError.ts";
import { operationOf } from "./operation.ts";
import { readQuery } from "./readQuery.ts";
import type { GraphQlAnswer, GraphQlContext, GraphQlRequest } from "./request.ts";
import { MUTATION } from "./schema.ts";
import { validate } from "./validation/validate.ts";
import { WorkLimit } from "./validation/workLimit.ts";

/**
 * Answers a GraphQL request as Besu 24.7.0 does.
 *
 *   readQuery      text → tree, its length, tokens and nesting bounded first
 *   validate       the tree against the schema, in graphql-java's words
 *   operationOf    which operation, and its variables
 *   complexityOf   Besu's limit of 200
 *   planOf         fragments in their places, equal names merged, arguments read
 *   execute        the plan, field by field, into formatted text
 *
 * Every step is bounded before it begins. Those that can be long pause, so that other work runs in between. A caller
 * who goes away is told by `context.isAbandoned` or by `signal`, and ends the work; the answer is then of no interest.
 */
export async function answerGraphQl(
  request: GraphQlRequest,
  context: GraphQlContext,
  signal: AbortSignal,
): Promise<GraphQlAnswer> {
  const isAbandoned = (): boolean => signal.aborted || context.isAbandoned();
  const { backend, logger, remoteHost, client, pacer, onInFlight } = context;
  try {
    return await answer(request, { backend, logger, remoteHost, client, isAbandoned, pacer, onInFlight });
  } catch (error) {
    if (error instanceof Refusal) return refusal(error.status, error.errors);
    if (error instanceof FieldError) return refusal(400, [{ message: error.message }]);
    logger.often("error", "GraphQL request failed", () => ({ error }));
    return refusal(500, [{ message: "Internal error" }]);
  }
}

/** Answers the callers of a server: at the newest head that the node has shown, and in the turns of each caller's host. */
export function answerGraphQlCallers({
  backend,
  logger,
  callerTime,
}: Pick<GraphQlContext, "backend" | "logger"> & { readonly callerTime: CallerTime }): AnswerCaller {
  return async (request, caller, signal, onInFlight) => {
    const { remoteHost, client } = caller;
    await backend.newestHead();
    const pacer = new CallerPacer(callerTime, remoteHost);
    const isAbandoned = (): boolean => caller.isAbandoned();
    try {
      return await answerGraphQl(
        request,
        { remoteHost, client, isAbandoned, backend, logger, pacer, onInFlight },
        signal,
      );
    } finally {
      pacer.end();
    }
  };
}

type AnswerCaller = (
  request: GraphQlRequest,
  caller: Requester,
  signal: AbortSignal,
  onInFlight: (bytes: number) => void,
) => Promise<GraphQlAnswer>;

async function answer(
  { query, operationName, variables, isReadOnly = false }: GraphQlRequest,
  request: GraphQlContext,
): Promise<GraphQlAnswer> {
  const budget = new Budget(() => request.isAbandoned(), request);
  const document = await inSteps(readQuery(query), budget);
  const problems = await inSteps(validate(document, new WorkLimit()), budget);
  if (problems.length > 0) return refusal(400, problems);
  const operation = operationOf(document, operationName, variables);
  if (isReadOnly && operation.rootType === MUTATION) throw new Refusal(403, [{ message: READ_ONLY }]);
  const complexity = complexityOf(operation);
  if (complexity > COMPLEXITY_LIMIT)
    throw aborted(`maximum query complexity exceeded ${complexity} > ${COMPLEXITY_LIMIT}`);
  const plan = await inSteps(planOf(operation), budget);
  const { errors, data } = await execute(plan, { request, budget });
  return errors.length === 0
    ? { status: 200, body: ['{\n  "data" : ', ...data, "\n}"], heldBytes: roughLengthOf(data) }
    : { status: 400, body: withErrors(errors, data), heldBytes: budget.takenLength };
}

const READ_ONLY =
  "A browser that does not name an allowed origin cannot have a mutation by GET. Send it by POST.";

function refusal(status: number, errors: readonly GraphQlError[]): GraphQlAnswer {
  return { status, body: prettySlices(errorPieces(errors, "]}")) };
}

function* withErrors(
  errors: readonly GraphQlError[],
  data: readonly JsonPiece[],
): Generator<JsonPiece, void> {
  yield* prettySlices(errorPieces(errors, '],"data":'));
  yield* data;
  yield "\n}";
}

/** JSON of the errors, some at a time: a pool of transactions can have as many. */
function* errorPieces(errors: readonly GraphQlError[], end: string): Generator<string, void> {
  let piece = '{"errors":[';
  for (const [index, error] of errors.entries()) {
    piece += index === 0 ? JSON.stringify(error) : `,${JSON.stringify(error)}`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  yield piece + end;
}

const PIECE_LENGTH = 64 * 1024;
