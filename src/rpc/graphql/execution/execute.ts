import { toHex } from "../../../primitives/hex.ts";
import type { JsonPiece } from "../../../primitives/jsonPieces.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { BlockRemoved } from "../../../types/blockRemoved.ts";
import { StateRemoved } from "../../../types/stateRemoved.ts";
import { RequestFailed } from "../../../workers/channel/requestSender.ts";
import { TooManyRequests } from "../../core/tooManyRequests.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type Classification, FieldError, type GraphQlError, Refusal } from "../graphQlError.ts";
import type { FieldContext } from "../resolvers/resolverTable.ts";
import { printType, QUERY } from "../schema.ts";
import { AnswerText, type Mark } from "./answerText.ts";
import type { Budget } from "./budget.ts";
import type { PlannedField, Shape } from "./plan.ts";

export interface ExecutionResult {
  readonly errors: readonly GraphQlError[];
  /** Formatted JSON of the value of `data`. */
  readonly data: readonly JsonPiece[];
}

/**
 * Executes a plan: the fields one after the other, depth first, into text. It keeps its place on a stack of its own, so that it can
 * pause anywhere and nesting costs no stack. As in graphql-java a field without a value that must have one does not end the work
 * on its neighbours: their errors are reported too, and only then does the null go upwards.
 */
export async function execute(
  plan: readonly PlannedField[],
  context: FieldContext,
): Promise<ExecutionResult> {
  return new Execution(context).run(plan);
}

/** An object or a list that is being written. */
interface Frame {
  readonly parent: Frame | undefined;
  /** Its place in the parent. */
  readonly key: string | number;
  readonly shape: Shape;
  readonly begin: Mark;
  /** Whether something that must not be null is, so that this is null. */
  isNull: boolean;
  readonly content: ObjectContent | ListContent;
}

interface ObjectContent {
  readonly kind: "object";
  readonly source: unknown;
  readonly fields: readonly PlannedField[];
  next: number;
}

interface ListContent {
  readonly kind: "list";
  readonly items: Iterator<unknown>;
  readonly field: PlannedField;
  next: number;
}

class Execution {
  private readonly context: FieldContext;
  private readonly budget: Budget;
  private readonly text = new AnswerText();
  private readonly errors: GraphQlError[] = [];
  /** Length of the text that the budget knows of. */
  private counted = 0;
  private frame: Frame | undefined;
  private isDataNull = false;
  /** Whether what was done may have taken long: a long value, or an object, which may be read from the disk. */
  private hasTakenLong = false;

  constructor(context: FieldContext) {
    this.context = context;
    this.budget = context.budget;
  }

  async run(plan: readonly PlannedField[]): Promise<ExecutionResult> {
    this.beginObject(undefined, ROOT_SHAPE, plan, "");
    for (let step = 1; this.frame !== undefined; step++) {
      if (this.hasTakenLong || step % STEPS_PER_LOOK === 0) {
        this.hasTakenLong = false;
        this.count();
        if (this.budget.isDue()) await this.budget.yield();
      }
      const waiting = this.step(this.frame);
      if (waiting !== undefined) await waiting;
    }
    this.count();
    return { errors: this.errors, data: this.isDataNull ? ["null"] : this.text.pieces() };
  }

  private count(): void {
    const { length } = this.text;
    if (length > this.counted) this.budget.take(length - this.counted);
    this.counted = length;
  }

  /** Goes on with an object or a list by one of its values; resolves when that is there. */
  private step(frame: Frame): Promise<void> | undefined {
    const { content } = frame;
    if (content.kind === "object") return this.stepObject(frame, content);
    const index = content.next++;
    const { item } = frame.shape;
    const { done, value } = this.nextItem(frame, content);
    if (done === true || item === undefined) this.endFrame(frame);
    else this.complete(frame, item, { field: content.field, key: index, value });
    return undefined;
  }

  private nextItem(frame: Frame, { items, field }: ListContent): IteratorResult<unknown> {
    try {
      return items.next();
    } catch (error) {
      this.addFailure(error, field, frame, undefined);
      frame.isNull = true;
      return { done: true, value: undefined };
    }
  }

  private stepObject(frame: Frame, content: ObjectContent): Promise<void> | undefined {
    const field = content.fields[content.next++];
    if (field === undefined) {
      this.endFrame(frame);
      return undefined;
    }
    const value = this.resolve(frame, content.source, field);
    if (field.shape.isLeaf && isAtHand(value)) {
      this.text.member(field.name, this.leafJson(field.shape.named.name, value));
      return undefined;
    }
    this.text.name(field.name);
    if (!(value instanceof Promise)) {
      this.complete(frame, field.shape, { field, key: field.key, value });
      return undefined;
    }
    const known = value.catch((error: unknown) => this.failed(error, field, frame));
    return this.budget
      .waitFor(known)
      .then((settled) => this.complete(frame, field.shape, { field, key: field.key, value: settled }));
  }

  private resolve(frame: Frame, source: unknown, field: PlannedField): unknown {
    if (field.argumentError !== undefined) return this.failed(field.argumentError, field, frame);
    try {
      return field.resolve?.(source as never, field.args, this.context);
    } catch (error) {
      return this.failed(error, field, frame);
    }
  }

  private failed(error: unknown, field: PlannedField, frame: Frame): Failed {
    this.addFailure(error, field, frame, field.key);
    return FAILED;
  }

  /** Writes a value, or begins to. */
  private complete(
    frame: Frame,
    shape: Shape,
    {
      field,
      key,
      value,
    }: { readonly field: PlannedField; readonly key: string | number; readonly value: unknown },
  ): void {
    if (value === undefined || value === null || value === FAILED) {
      this.writeNull(frame, shape, key, value === FAILED);
    } else if (shape.item !== undefined) {
      const items = (value as Iterable<unknown>)[Symbol.iterator]();
      this.frame = this.frameOf(frame, key, shape, { kind: "list", items, field, next: 0 });
      this.text.beginList();
    } else if (shape.named.kind === "OBJECT") this.beginObject(frame, shape, field.selections, key, value);
    else this.text.value(this.leafJson(shape.named.name, value));
  }

  private beginObject(
    parent: Frame | undefined,
    shape: Shape,
    fields: readonly PlannedField[],
    key: string | number,
    source?: unknown,
  ): void {
    this.hasTakenLong = true;
    this.frame = this.frameOf(parent, key, shape, { kind: "object", source, fields, next: 0 });
    this.text.beginObject();
  }

  private frameOf(
    parent: Frame | undefined,
    key: string | number,
    shape: Shape,
    content: ObjectContent | ListContent,
  ): Frame {
    return { parent, key, shape, begin: this.text.mark(), isNull: false, content };
  }

  private endFrame(frame: Frame): void {
    const { parent, begin, content, isNull, shape } = frame;
    this.frame = parent;
    if (content.kind === "object") this.hasTakenLong = true;
    if (!isNull) {
      if (content.kind === "object") this.text.endObject();
      else this.text.endList();
      return;
    }
    this.text.returnTo(begin);
    this.text.value("null");
    if (parent === undefined) this.isDataNull = true;
    else if (shape.isNonNull) parent.isNull = true;
  }

  private writeNull(frame: Frame, shape: Shape, key: string | number, isReported: boolean): void {
    this.text.value("null");
    if (!shape.isNonNull) return;
    frame.isNull = true;
    if (isReported) return;
    const path = pathOf(frame, key);
    const within = printType(frame.content.kind === "object" ? frame.shape.named : frame.shape.type);
    const message = `The field at path '${pathText(path)}' was declared as a non null type, but the code involved in retrieving data has wrongly returned a null value.  The graphql specification requires that the parent field be set to null, or if that is non nullable that it bubble up null to its parent and so on. The non-nullable type is '${printType(shape.type)}' within parent type '${within}'`;
    this.addError({ message, path, extensions: { classification: "NullValueInNonNullableField" } });
  }

  private addFailure(error: unknown, field: PlannedField, frame: Frame, key: string | undefined): void {
    if (error instanceof Refusal) throw error;
    const path = pathOf(frame, key);
    const known = knownError(error);
    if (known === undefined)
      this.context.request.logger.often("error", "GraphQL field failed", () => ({
        field: `${field.parent.name}.${field.field.name}`,
        error,
      }));
    const { message, code } = known ?? INTERNAL_ERROR;
    const classification: Classification = "DataFetchingException";
    this.addError({
      message: `Exception while fetching data (${pathText(path)}) : ${message}`,
      locations: [field.location],
      path,
      extensions: {
        ...(code !== undefined && { errorCode: code, errorMessage: message }),
        classification,
      },
    });
  }

  /** An error takes room in the answer, too: its message is longer than a small value. */
  private addError(error: GraphQlError): void {
    this.budget.take(ERROR_CHARACTERS + error.message.length);
    this.errors.push(error);
  }

  private leafJson(type: string, value: unknown): string {
    if (typeof value === "bigint" || typeof value === "number") return `"${toQuantity(value)}"`;
    if (typeof value === "boolean") return String(value);
    if (typeof value === "string") {
      if (value.length > LONG_BYTES) this.hasTakenLong = true;
      return type === "String" ? JSON.stringify(value) : `"${value}"`;
    }
    const bytes = value as Uint8Array;
    // It may be a block of megabytes.
    if (bytes.length > LONG_BYTES) {
      this.hasTakenLong = true;
      this.budget.expect(2 * bytes.length);
    }
    return `"${toHex(bytes)}"`;
  }
}

/** Whether a value can be written: there is one, and it need not be waited for. */
function isAtHand(value: unknown): boolean {
  return value !== undefined && value !== null && value !== FAILED && !(value instanceof Promise);
}

/** Stands for a value whose error is reported. */
const FAILED = Symbol("failed");
type Failed = typeof FAILED;

const INTERNAL_ERROR: FieldError = new FieldError(ERRORS.internalError.message, ERRORS.internalError.code);

/** The error of a field as callers see it; undefined when it is a mistake of this program. */
function knownError(error: unknown): FieldError | undefined {
  if (error instanceof FieldError) return error;
  const known =
    error instanceof TooManyRequests
      ? ERRORS.tooManyCalls
      : error instanceof StateRemoved
        ? ERRORS.worldStateUnavailable
        : error instanceof BlockRemoved
          ? ERRORS.historyNotStored
          : error instanceof RequestFailed
            ? ERRORS.internalError
            : undefined;
  return known && new FieldError(known.message, known.code);
}

/** The place of a value, from the root: names and indices. */
function pathOf(frame: Frame, key: string | number | undefined): readonly (string | number)[] {
  const path: (string | number)[] = key === undefined ? [] : [key];
  for (let each: Frame | undefined = frame; each?.parent !== undefined; each = each.parent)
    path.unshift(each.key);
  return path;
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : `/${part}`)).join("");
}

/** The object of the operation itself. */
const ROOT_SHAPE: Shape = { isNonNull: false, isLeaf: false, item: undefined, type: QUERY, named: QUERY };

/** Some microseconds for values at hand; a read of the disk takes about one more each. */
const STEPS_PER_LOOK = 16;
const ERROR_CHARACTERS = 256;
const LONG_BYTES = 64 * 1024;
