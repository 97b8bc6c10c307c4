/// SQL functions that read the members of documents as typed values, for views (server on PostgreSQL, 5).
///
/// None fails on any document: a value that the type cannot hold, or of another type, is NULL. The
/// planner replaces calls by their bodies, so an index on `as_text(document, 'store')` serves a view.
enum ReaderFunctions {
    /// Names have no schema: the connection's `search_path` has the store's.
    static let sql = #"""
        CREATE FUNCTION as_text(d jsonb, k text) RETURNS text
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE jsonb_typeof(d -> k) WHEN 'string' THEN (d ->> k) COLLATE "C" END;
        CREATE FUNCTION as_int(d jsonb, k text) RETURNS bigint
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE WHEN jsonb_typeof(d -> k) = 'number'
                THEN CASE WHEN (d -> k)::numeric BETWEEN -9223372036854775808
                    AND 9223372036854775807 THEN (d -> k)::bigint END END;
        CREATE FUNCTION as_bool(d jsonb, k text) RETURNS boolean
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE jsonb_typeof(d -> k) WHEN 'boolean' THEN (d -> k)::boolean END;
        CREATE FUNCTION as_double(d jsonb, k text) RETURNS float8
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE jsonb_typeof(d -> k)
                WHEN 'number' THEN CASE WHEN abs((d -> k)::numeric) < 1.8e308
                    AND (abs((d -> k)::numeric) > 2.5e-324 OR (d -> k)::numeric = 0)
                    THEN (d -> k)::float8 END
                WHEN 'object' THEN CASE
                    WHEN split_part(coalesce(d -> k ->> '$numberDouble',
                        d -> k ->> '$numberFloat'), ':', 1) IN ('NaN', 'Infinity', '-Infinity',
                        '0.0', '-0.0')
                    THEN split_part(coalesce(d -> k ->> '$numberDouble',
                        d -> k ->> '$numberFloat'), ':', 1)::float8 END
                END;
        CREATE FUNCTION as_decimal(d jsonb, k text) RETURNS numeric
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE WHEN d ->> k ~ '^-?([0-9]+([.][0-9]*)?(E[-+]?[0-9]{1,4})?|Infinity|NaN)$'
                THEN replace(d ->> k, '-NaN', 'NaN')::numeric END;
        CREATE FUNCTION as_timestamp(d jsonb, k text) RETURNS timestamptz
            LANGUAGE sql STABLE PARALLEL SAFE
            RETURN CASE WHEN d ->> k ~
                    '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.][0-9]*)?Z$'
                AND d ->> k NOT LIKE '0000%' THEN (d ->> k)::timestamptz END;
        CREATE FUNCTION as_binary(d jsonb, k text) RETURNS bytea
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE WHEN d ->> k ~ '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
                THEN decode(d ->> k, 'base64') END;
        CREATE FUNCTION as_partition(p text) RETURNS jsonb
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            RETURN CASE WHEN p <> '' AND p !~ '\\u0000' THEN p::jsonb END;

        """#
}
