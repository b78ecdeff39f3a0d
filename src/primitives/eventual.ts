/**
 * A value that is there at once or comes later. Most work ends without waiting, and a promise for each step of a small
 * call would take longer than the call.
 */
export type Eventual<T> = T | Promise<T>;

/** Applies `use` to a value: at once, or when its promise resolves. */
export function onceKnown<T, R>(value: Eventual<T>, use: (value: T) => Eventual<R>): Eventual<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
