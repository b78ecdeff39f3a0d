import type { JsonPiece } from "../../../primitives/jsonPieces.ts";
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

/** An object or a list that is being written. All have the same members, which makes each use of one fast. */
interface Frame {
  readonly parent: Frame | undefined;
  /** Name or index in the parent. */
  readonly key: string | number;
  readonly shape: Shape;
  readonly begin: Mark;
  /** Whether something that must not be null is, so that this is null. */
  isNull: boolean;
  /** The object itself; undefined for a list. */
  readonly source: unknown;
  /** What is selected of the object; of a list, the field that it is the value of. */
  readonly fields: readonly PlannedField[];
  /** The items of a list; undefined for an object. */
  readonly items: Iterator<unknown> | undefined;
  /** Number of fields or items that are written, or begun. */
  written: number;
}

class Execution {
  private readonly context: FieldContext;
  private readonly budget: Budget;
  private readonly text = new AnswerText();
  private readonly errors: GraphQlError[] = [];
  /** Length of the text that the budget knows of. */
  private counted = 0;
  private frame: Frame | undefined;
  /** The rest of a long value, which is written before anything else. */
  private longValue: Iterator<void> | undefined;
  private isDataNull = false;
  /** What was done since the last look at the time: about the number of values. */
  private load = 0;

  constructor(context: FieldContext) {
    this.context = context;
    this.budget = context.budget;
  }

  async run(plan: readonly PlannedField[]): Promise<ExecutionResult> {
    this.beginObject(undefined, ROOT_SHAPE, plan, { frame: undefined, key: "" });
    while (this.frame !== undefined) {
      const waiting = this.writeOn(this.frame);
      if (waiting !== undefined) await waiting;
      else if (this.load >= LOAD_PER_LOOK) {
        this.load = 0;
        this.count();
        if (this.budget.isDue()) await this.budget.yield();
      }
    }
    this.count();
    return { errors: this.errors, data: this.isDataNull ? ["null"] : this.text.pieces() };
  }

  private count(): void {
    const { length } = this.text;
    if (length > this.counted) this.budget.take(length - this.counted);
    this.counted = length;
  }

  /** Writes until it is time to look at the time, or until a value is to be waited for: it then resolves when that is there. */
  private writeOn(first: Frame): Promise<void> | undefined {
    let frame: Frame | undefined = first;
    while (frame !== undefined && this.load < LOAD_PER_LOOK) {
      if (this.longValue !== undefined) this.writeLongValue(this.longValue);
      else if (frame.items !== undefined) this.writeItem(frame, frame.items);
      else {
        const waiting = this.writeMembers(frame);
        if (waiting !== undefined) return waiting;
      }
      ({ frame } = this);
    }
    return undefined;
  }

  private writeLongValue(rest: Iterator<void>): void {
    this.load = LOAD_PER_LOOK;
    if (rest.next().done === true) this.longValue = undefined;
  }

  private writeItem(frame: Frame, items: Iterator<unknown>): void {
    const { item } = frame.shape;
    const [field] = frame.fields;
    this.load += loadOf(field);
    const { done, value } = this.nextItem(frame, items, field);
    if (done === true || item === undefined || field === undefined) this.endFrame(frame);
    else this.write(value, item, { frame, field, key: frame.written++ });
  }

  private nextItem(
    frame: Frame,
    items: Iterator<unknown>,
    field: PlannedField | undefined,
  ): IteratorResult<unknown> {
    try {
      return items.next();
    } catch (error) {
      if (field !== undefined) this.addFailure(error, field, frame, undefined);
      frame.isNull = true;
      return { done: true, value: undefined };
    }
  }

  /** Writes the next members of an object, up to one that has values of its own. */
  private writeMembers(frame: Frame): Promise<void> | undefined {
    const { fields, source } = frame;
    while (this.load < LOAD_PER_LOOK) {
      const field = fields[frame.written++];
      this.load += loadOf(field);
      if (field === undefined) {
        this.endFrame(frame);
        return undefined;
      }
      const value = this.resolve(frame, source, field);
      this.text.name(field.name);
      if (typeof value === "object" && value instanceof Promise) return this.writeLater(value, field, frame);
      this.write(value, field.shape, { frame, field, key: field.key });
      if (!field.shape.isLeaf || this.longValue !== undefined) return undefined;
    }
    return undefined;
  }

  private writeLater(value: Promise<unknown>, field: PlannedField, frame: Frame): Promise<void> {
    const known = value.catch((error: unknown) => this.failed(error, field, frame));
    return this.budget
      .waitFor(known)
      .then((settled) => this.write(settled, field.shape, { frame, field, key: field.key }));
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

  /** Writes a value at its place, or begins to. */
  private write(value: unknown, shape: Shape, place: Place): void {
    if (value === undefined || value === null || value === FAILED)
      this.writeNull(shape, place, value === FAILED);
    else if (shape.isLeaf) this.writeLeaf(shape.named.name, value);
    else if (shape.item !== undefined) {
      const items = (value as Iterable<unknown>)[Symbol.iterator]();
      const { frame: parent, key, field } = place;
      const begin = this.text.mark();
      this.frame = {
        parent,
        key,
        shape,
        begin,
        isNull: false,
        source: undefined,
        fields: [field],
        items,
        written: 0,
      };
      this.text.beginList();
    } else this.beginObject(value, shape, place.field.selections, place);
  }

  private beginObject(
    source: unknown,
    shape: Shape,
    fields: readonly PlannedField[],
    { frame: parent, key }: { readonly frame: Frame | undefined; readonly key: string | number },
  ): void {
    this.load += LOAD_OF_OBJECT;
    const begin = this.text.mark();
    this.frame = { parent, key, shape, begin, isNull: false, source, fields, items: undefined, written: 0 };
    this.text.beginObject();
  }

  private endFrame(frame: Frame): void {
    const { parent, begin, items, isNull, shape } = frame;
    this.frame = parent;
    if (!isNull) {
      if (items === undefined) this.text.endObject();
      else this.text.endList();
      return;
    }
    this.text.returnTo(begin);
    this.text.json("null");
    if (parent === undefined) this.isDataNull = true;
    else if (shape.isNonNull) parent.isNull = true;
  }

  private writeNull(shape: Shape, { frame, key }: Place, isReported: boolean): void {
    this.text.json("null");
    if (!shape.isNonNull) return;
    frame.isNull = true;
    if (isReported) return;
    const path = pathOf(frame, key);
    const within = printType(frame.items === undefined ? frame.shape.named : frame.shape.type);
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

  private writeLeaf(type: string, value: unknown): void {
    const { text } = this;
    switch (typeof value) {
      case "bigint":
      case "number":
        text.quantity(value);
        break;
      case "boolean":
        text.json(String(value));
        break;
      case "string":
        if (value.length > LONG_BYTES) this.load = LOAD_PER_LOOK;
        if (type === "String") text.json(JSON.stringify(value));
        else text.plain(value);
        break;
      default:
        if (type === "BigInt") text.scalar(value as Uint8Array);
        else this.writeBytes(value as Uint8Array);
    }
  }

  private writeBytes(bytes: Uint8Array): void {
    if (bytes.length <= LONG_BYTES) {
      this.text.data(bytes);
      return;
    }
    // It may be a block of megabytes.
    this.budget.expect(2 * bytes.length);
    this.longValue = this.text.longData(bytes);
  }
}

/** Where a value is written: the object or list that it is in, the field that it belongs to, and its name or index. */
interface Place {
  readonly frame: Frame;
  readonly field: PlannedField;
  readonly key: string | number;
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

function loadOf(field: PlannedField | undefined): number {
  return field?.isRead === true ? LOAD_PER_LOOK : 1;
}

/** Some microseconds for values at hand. */
const LOAD_PER_LOOK = 16;
/** What to make an object takes, beside a value. */
const LOAD_OF_OBJECT = 3;
const ERROR_CHARACTERS = 256;
const LONG_BYTES = 64 * 1024;
