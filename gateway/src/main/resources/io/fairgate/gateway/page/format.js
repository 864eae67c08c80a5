export function number(value, digits = 0) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(part) {
  return number(100 * part, 1) + ' %';
}

/** A time with the unit that fits. */
export function time(seconds) {
  if (seconds === 0) {
    return '0';
  }
  if (seconds < 1) {
    return number(1000 * seconds) + ' ms';
  }
  return seconds < 120 ? number(seconds, seconds < 10 ? 1 : 0) + ' s' : number(seconds / 60, 1) + ' min';
}

/** A moment as in the logs. */
export function moment(iso) {
  return new Date(iso).toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}

/** Counts by reason, or a text for none. */
export function counts(byReason, none) {
  const all = Object.entries(byReason).map(([reason, count]) => `${number(count)} ${reason}`);
  return all.length === 0 ? none : all.join(', ');
}

/** A colour for each name, light enough for dark text on it. */
export function colour(name) {
  let hash = 7;
  for (const char of name) {
    hash = (hash * 31 + char.codePointAt(0)) % 3600;
  }
  return `hsl(${Math.round(hash * 137.508) % 360} 62% 72%)`;
}
